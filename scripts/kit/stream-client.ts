import { Agent, get, type IncomingMessage } from 'node:http'
import type { Knex } from 'knex'

/** Until the service says another time. */
const firstRetryMs = 250

/** A reader of one wallet's stream as a browser is one: it comes back after `retry` and says the last id that it got. */
export class StreamClient {
  readonly wallet: string
  /** The ids of the tips, in the order they came. */
  readonly ids: number[] = []
  /** Events after this id are owed to it: the one of its first connection. */
  owedAfter: number | undefined
  connections = 0
  /** Connections that were refused or broke off, instead of being ended. */
  readonly faults: string[] = []
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: false })
  #last: string | undefined
  #retryMs = firstRetryMs
  #closed = false
  #timer: NodeJS.Timeout | undefined

  constructor(url: string, wallet: string) {
    this.#url = url
    this.wallet = wallet
    this.#open()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#agent.destroy()
  }

  #open(): void {
    this.connections += 1
    const headers = this.#last === undefined ? {} : { 'last-event-id': this.#last }
    get(
      `${this.#url}/chain/tips/stream?wallet=${this.wallet}`,
      { agent: this.#agent, headers },
      (response) => {
        if (response.statusCode === 200) this.#read(response)
        else {
          response.resume()
          this.#ended(`status ${response.statusCode}`)
        }
      },
    ).on('error', (error) => this.#ended(error.message))
  }

  #read(response: IncomingMessage): void {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      const blocks = (text + chunk).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
    })
    response.on('end', () => this.#ended())
    response.on('error', (error) => this.#ended(error.message))
  }

  #take(block: string): void {
    const [, retry] = /^retry: (\d+)$/m.exec(block) ?? []
    if (retry !== undefined) this.#retryMs = Number(retry)
    const [, id, data = ''] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? []
    if (id === undefined) return
    this.#last = id
    if (data.startsWith('{"status":"connected"')) this.owedAfter ??= Number(id)
    else this.ids.push(Number(id))
  }

  #ended(fault?: string): void {
    if (this.#closed) return
    if (fault !== undefined) this.faults.push(fault)
    this.#timer = setTimeout(() => this.#open(), this.#retryMs)
  }
}

/** The times (epoch ms) of the confirmed tips of each wallet: the ids of their events. */
export async function confirmedStamps(db: Knex, wallets: readonly string[]): Promise<Map<string, number[]>> {
  const { rows } = await db.raw<{ rows: { wallet: string; at: Date }[] }>(
    `select p.wallet, t.confirmed_at as at from tips t join parties p on p.id = t.recipient_party
     where p.wallet = any(?) and t.status = 'confirmed' order by t.confirmed_at`,
    [[...wallets]],
  )
  const stamps = new Map<string, number[]>(wallets.map((wallet) => [wallet, []]))
  for (const { wallet, at } of rows) stamps.get(wallet)?.push(at.getTime())
  return stamps
}

/** The events that must have come to a reader. */
export function owedTo(
  { wallet, owedAfter = 0 }: StreamClient,
  stamps: ReadonlyMap<string, number[]>,
): number[] {
  return (stamps.get(wallet) ?? []).filter((at) => at > owedAfter)
}

/** What is missing, doubled or in the wrong place; with `unbroken` also connections that broke off instead of being ended. */
export function streamFaults(
  readers: readonly StreamClient[],
  stamps: ReadonlyMap<string, number[]>,
  unbroken: boolean,
): string[] {
  return readers.flatMap((reader, index) => {
    const owed = owedTo(reader, stamps)
    const same = owed.length === reader.ids.length && owed.every((at, place) => at === reader.ids[place])
    return [
      ...(same ? [] : [`stream ${index}: ${owed.length} events owed, ${reader.ids.length} came`]),
      ...(unbroken ? reader.faults.map((fault) => `stream ${index}: ${fault}`) : []),
    ]
  })
}
