import type { Knex } from 'knex'
import { eventText } from '../../http/sse.js'
import type { Services } from '../../services.js'
import { tipChannel } from './channel.js'
import { confirmedAfter, pageSize, walletsConfirmedWithin } from './confirmed-after.js'
import { presentTipEvent } from './present.js'

/** What a reader of a wallet's stream is to the hub. */
interface Reader {
  /** Stamp (epoch ms) of the last event it was given: its place, and the `id` of that event. */
  cursor: number
  closed: boolean
  /** Gives it one event in event-stream form; false when it can take no more. */
  readonly send: (text: string) => boolean
}

/** The tail looks for confirmations whose hint was lost, this often. */
const tailMs = 3000
/** How far a tail looks back beyond the last one: a slow transaction commits its stamp late. */
const tailMarginMs = 10_000

/**
 * Live tips for the readers of this process. Redis only says "this wallet moved"; everything sent is read from
 * the database after the reader's own cursor. So first read, live event, replay and a lost hint are one path, and
 * a reader sees every confirmation once, in order.
 */
export class StreamHub {
  readonly #services: Pick<Services, 'db' | 'notifications' | 'log'>
  readonly #wallets = new Map<string, { readers: Set<Reader>; unlisten: () => void }>()
  readonly #moved = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #reading: Promise<void> | undefined
  #tailedAtMs = performance.now()

  constructor(services: Pick<Services, 'db' | 'notifications' | 'log'>) {
    this.#services = services
    services.notifications.onReconnect(() => this.#tail())
    this.#timer = setInterval(() => this.#tail(), tailMs)
  }

  /** Gives `send` every confirmation of the wallet after `cursor`, until the returned function is called. */
  open(wallet: string, cursor: number, send: Reader['send']): () => void {
    const reader: Reader = { cursor, closed: false, send }
    this.#entry(wallet).readers.add(reader)
    this.#touch(wallet)
    return () => {
      reader.closed = true
      const entry = this.#wallets.get(wallet)
      if (entry?.readers.delete(reader) !== true || entry.readers.size > 0) return
      this.#wallets.delete(wallet)
      entry.unlisten()
    }
  }

  /** Stops looking and waits for the read in flight. Readers are closed by whoever opened them. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    while (this.#reading !== undefined) await this.#reading
  }

  #entry(wallet: string): { readers: Set<Reader>; unlisten: () => void } {
    const existing = this.#wallets.get(wallet)
    if (existing !== undefined) return existing
    const touch = (): void => this.#touch(wallet)
    // Touched again once the subscription stands: what was confirmed before it is not hinted.
    const entry = {
      readers: new Set<Reader>(),
      unlisten: this.#services.notifications.listen(tipChannel(wallet), touch, touch),
    }
    this.#wallets.set(wallet, entry)
    return entry
  }

  #touch(wallet: string): void {
    this.#moved.add(wallet)
    this.#read()
  }

  #read(): void {
    this.#reading ??= this.#readMoved().then(
      () => {
        this.#reading = undefined
        // Touched after the last look: nobody else would come back for it.
        if (this.#moved.size > 0) this.#read()
      },
      (error: unknown) => {
        this.#reading = undefined
        this.#services.log.warn({ err: error }, 'tips could not be read; the tail repeats it')
      },
    )
  }

  async #readMoved(): Promise<void> {
    while (this.#moved.size > 0) {
      // Only readers present now take part: one that joins during the read may need older events, and touches the wallet itself.
      const present = new Map(
        [...this.#moved].map((wallet) => [wallet, [...(this.#wallets.get(wallet)?.readers ?? [])]]),
      )
      this.#moved.clear()
      const cursors = new Map<string, number>()
      for (const [wallet, readers] of present)
        if (readers.length > 0) cursors.set(wallet, Math.min(...readers.map(({ cursor }) => cursor)))
      try {
        if (cursors.size > 0) await this.#deliver(present, cursors)
      } catch (error) {
        // The next tail repeats it: a replay of old events is asked for by nothing else.
        for (const wallet of cursors.keys()) this.#moved.add(wallet)
        throw error
      }
    }
  }

  async #deliver(
    present: ReadonlyMap<string, Reader[]>,
    cursors: ReadonlyMap<string, number>,
  ): Promise<void> {
    const db: Knex = this.#services.db
    for (const [wallet, tips] of await confirmedAfter(db, cursors)) {
      // A full page: there may be more, unless nobody is left to take it.
      if (tips.length === pageSize) this.#moved.add(wallet)
      for (const tip of tips) {
        const at = tip.confirmedAt.getTime()
        const text = eventText(presentTipEvent(tip), at)
        // A reader that left during the read is skipped: whoever comes back for it is given this event itself.
        for (const reader of present.get(wallet) ?? []) {
          if (reader.closed || at <= reader.cursor) continue
          reader.cursor = at
          reader.send(text)
        }
      }
    }
  }

  /** Since the last tail that succeeded, however long ago: the process may have been paused, the database away. */
  #tail(): void {
    const startedAtMs = performance.now()
    if (this.#wallets.size === 0) {
      this.#tailedAtMs = startedAtMs
      return
    }
    walletsConfirmedWithin(this.#services.db, startedAtMs - this.#tailedAtMs + tailMarginMs).then(
      (moved) => {
        this.#tailedAtMs = startedAtMs
        for (const { wallet, lastAt } of moved) this.#touchIfBehind(wallet, lastAt.getTime())
        if (this.#moved.size > 0) this.#read()
      },
      () => undefined,
    )
  }

  #touchIfBehind(wallet: string, lastAt: number): void {
    const readers = [...(this.#wallets.get(wallet)?.readers ?? [])]
    if (readers.some(({ cursor }) => cursor < lastAt)) this.#touch(wallet)
  }
}
