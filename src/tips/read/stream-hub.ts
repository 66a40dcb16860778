import type { Knex } from 'knex'
import { eventText } from '../../http/sse.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { confirmedColumns, type PricedTip, presentTipEvent, tipChannel } from './present.js'

interface Reader {
  readonly wallet: string
  /** The stamp (epoch ms) of the last event sent to it, which is also the `id` of that event. */
  cursor: number
  /** It lacks tips that were there when it joined, and reads on from its own cursor until it has them. Then it is at the head. */
  isBehind: boolean
  closed: boolean
  /** Sends one event in event-stream format. Returns false when the reader was dropped. */
  readonly send: (text: string) => boolean
}

interface WalletReaders {
  readonly readers: Set<Reader>
  readonly unlisten: () => void
}

/** The tips of a wallet after a cursor, and the readers that may lack them. */
interface Read {
  readonly wallet: string
  readonly cursor: number
  readonly readers: Iterable<Reader>
}

/** How often the hub polls for confirmations whose notification was lost. */
const pollMs = 3000
/** How far a poll reads back before the previous one: a slow transaction commits its stamp late. */
const pollMarginMs = 10_000
/** Tips of one cursor in one read. A reader that is further behind gets the rest in the next read. */
const pageSize = 100
/** Cursors of readers that are behind in one statement. The others wait for their turn. */
const mostBehindInOneRead = 10

/**
 * Sends newly confirmed tips to the readers of this process. A notification only says that a wallet has new tips. What is
 * sent is always read from the database after the cursor of each reader (docs/decisions/0025). So the first read, a live
 * event, a replay and a lost notification take the same path, and each reader gets every tip once, in order.
 *
 * Readers at the head share their reads. Those that are behind take turns in a loop of their own: anybody may ask for a whole
 * history again and again, and keeps nobody else from a live event.
 */
export class StreamHub {
  readonly #services: Pick<Services, 'db' | 'notifications' | 'log'>
  readonly #wallets = new Map<string, WalletReaders>()
  /** Wallets to read for. */
  readonly #pending = new Set<string>()
  /** The readers that are behind, by wallet and cursor, in the order of their turns. */
  readonly #behind = new Map<string, Read & { readonly readers: Set<Reader> }>()
  readonly #headLoop: ReturnType<typeof createReadLoop>
  readonly #behindLoop: ReturnType<typeof createReadLoop>
  readonly #timer: NodeJS.Timeout
  /** When the last successful poll started. */
  #polledAtMs = performance.now()

  constructor(services: Pick<Services, 'db' | 'notifications' | 'log'>) {
    this.#services = services
    const warn = (err: unknown): void =>
      services.log.warn({ err }, 'confirmed tips could not be read: the next poll reads them again')
    this.#headLoop = createReadLoop(
      () => this.#pending.size > 0,
      () => this.#readPending(),
      warn,
    )
    this.#behindLoop = createReadLoop(
      () => this.#behind.size > 0,
      () => this.#readBehind(),
      warn,
    )
    services.notifications.onReconnect(() => this.#poll())
    this.#timer = setInterval(() => this.#poll(), pollMs)
  }

  /**
   * Calls `send` for every tip of the wallet confirmed after `cursor`, until the returned function is called. `newest`: the
   * stamp of the wallet's newest tip, read just before.
   */
  open(wallet: string, cursor: number, newest: number, send: Reader['send']): () => void {
    const reader: Reader = { wallet, cursor, isBehind: cursor < newest, closed: false, send }
    this.#readersOf(wallet).readers.add(reader)
    if (reader.isBehind) {
      this.#addBehind(reader)
      this.#behindLoop.run()
    } else this.#requestRead(wallet)
    return () => {
      reader.closed = true
      const entry = this.#wallets.get(wallet)
      if (entry?.readers.delete(reader) !== true || entry.readers.size > 0) return
      this.#wallets.delete(wallet)
      entry.unlisten()
    }
  }

  /** Stops polling and waits for the running reads. The callers of `open` close their readers. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#behindLoop.end()
    await this.#headLoop.end()
  }

  #readersOf(wallet: string): WalletReaders {
    const existing = this.#wallets.get(wallet)
    if (existing !== undefined) return existing
    const read = (): void => this.#requestRead(wallet)
    // Reads again once subscribed: tips confirmed before that sent no notification to this process.
    const entry = {
      readers: new Set<Reader>(),
      unlisten: this.#services.notifications.listen(tipChannel(wallet), read, read),
    }
    this.#wallets.set(wallet, entry)
    return entry
  }

  #requestRead(wallet: string): void {
    this.#pending.add(wallet)
    this.#headLoop.run()
  }

  #addBehind(reader: Reader): void {
    const { wallet, cursor } = reader
    const key = `${wallet} ${cursor}`
    const read = this.#behind.get(key)
    if (read === undefined) this.#behind.set(key, { wallet, cursor, readers: new Set([reader]) })
    else read.readers.add(reader)
  }

  async #readPending(): Promise<void> {
    const reads: Read[] = []
    for (const wallet of this.#pending) {
      // Only for readers at the head now: one that comes there during the read may need older tips, and requests its own read.
      const atHead = [...(this.#wallets.get(wallet)?.readers ?? [])].filter(({ isBehind }) => !isBehind)
      const cursor = Math.min(...atHead.map((reader) => reader.cursor))
      if (atHead.length > 0) reads.push({ wallet, cursor, readers: atHead })
    }
    this.#pending.clear()
    try {
      for (const { wallet } of await this.#deliver(reads)) this.#pending.add(wallet)
    } catch (error) {
      // The next poll repeats the read. Nothing else would request older events.
      for (const { wallet } of reads) this.#pending.add(wallet)
      throw error
    }
  }

  /** One page for each of the first in the queue. Who may lack more goes to its end. */
  async #readBehind(): Promise<void> {
    const reads = this.#takeBehind()
    let unfinished: readonly Read[] = reads
    try {
      unfinished = await this.#deliver(reads)
    } finally {
      for (const { readers } of unfinished)
        for (const reader of readers) if (!reader.closed) this.#addBehind(reader)
    }
    for (const read of reads) {
      if (unfinished.includes(read)) continue
      for (const reader of read.readers) reader.isBehind = false
      // Tips confirmed since the page was read: their notification was not for these readers.
      this.#pending.add(read.wallet)
    }
    this.#headLoop.run()
  }

  #takeBehind(): Read[] {
    const reads: Read[] = []
    for (const [key, read] of this.#behind) {
      this.#behind.delete(key)
      if ([...read.readers].some(({ closed }) => !closed)) reads.push(read)
      if (reads.length === mostBehindInOneRead) break
    }
    return reads
  }

  /** Sends a page to the readers of each read. Returns the reads whose page was full: there may be more tips. */
  async #deliver(reads: readonly Read[]): Promise<Read[]> {
    if (reads.length === 0) return []
    const pages = await confirmedAfter(this.#services.db, reads)
    for (const [index, { readers }] of reads.entries())
      for (const tip of pages[index] ?? []) {
        const at = tip.confirmedAt.getTime()
        const text = eventText(presentTipEvent(tip), at)
        // Skips a reader that left during the read. When it reconnects, it gets this event by its cursor.
        for (const reader of readers) {
          if (reader.closed || at <= reader.cursor) continue
          reader.cursor = at
          reader.send(text)
        }
      }
    return reads.filter((_, index) => pages[index]?.length === pageSize)
  }

  /** Reads back to the last successful poll: the process may have been paused, or the database unavailable. */
  #poll(): void {
    const startedAtMs = performance.now()
    if (this.#wallets.size === 0) {
      this.#polledAtMs = startedAtMs
      return
    }
    walletsConfirmedWithin(this.#services.db, startedAtMs - this.#polledAtMs + pollMarginMs).then(
      (recent) => {
        this.#polledAtMs = startedAtMs
        for (const { wallet, lastAt } of recent) this.#requestReadIfBehind(wallet, lastAt.getTime())
        // What a failed read has left.
        this.#headLoop.run()
        this.#behindLoop.run()
      },
      () => undefined,
    )
  }

  #requestReadIfBehind(wallet: string, lastAt: number): void {
    const readers = [...(this.#wallets.get(wallet)?.readers ?? [])]
    if (readers.some(({ cursor, isBehind }) => !isBehind && cursor < lastAt)) this.#requestRead(wallet)
  }
}

/** Reads one after the other while there is something to read. After an error it stops until the next `run`. */
function createReadLoop(
  hasWork: () => boolean,
  readOnce: () => Promise<void>,
  onError: (error: unknown) => void,
) {
  let running: Promise<void> | undefined
  async function readAll(): Promise<void> {
    try {
      while (hasWork()) await readOnce()
    } catch (error) {
      onError(error)
    } finally {
      running = undefined
    }
  }
  return {
    run(): void {
      if (running === undefined && hasWork()) running = readAll()
    },
    end: async (): Promise<void> => running,
  }
}

/** The tips of each wallet confirmed after the cursor (epoch ms), oldest first, at most `pageSize` each. */
async function confirmedAfter(
  db: Knex,
  reads: readonly Pick<Read, 'wallet' | 'cursor'>[],
): Promise<PricedTip[][]> {
  const rows = await query<PricedTip & { readonly place: number }>(db, {
    name: 'tips.confirmed-after',
    text: /* sql */ `
      select ${confirmedColumns}, p.usd, c.place::int as place
      from unnest($1::text[], $2::float8[]) with ordinality as c(wallet, after_ms, place)
      join parties r on r.wallet = c.wallet
      cross join lateral (
        select * from tips where recipient_party = r.id and status = 'confirmed'
          and confirmed_at > 'epoch'::timestamptz + c.after_ms * interval '1 ms'
        order by confirmed_at limit ${pageSize}) t
      left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      order by t.confirmed_at`,
    values: [reads.map(({ wallet }) => wallet), reads.map(({ cursor }) => cursor)],
  })
  const pages: PricedTip[][] = reads.map(() => [])
  for (const row of rows) pages[row.place - 1]?.push(row)
  return pages
}

/** Wallets with a tip confirmed in the last `ms`, and its stamp. Reads only the small cursor table. */
async function walletsConfirmedWithin(db: Knex, ms: number): Promise<{ wallet: string; lastAt: Date }[]> {
  return query(db, {
    name: 'tips.recently-confirmed',
    text: `select p.wallet, c.last_at as "lastAt" from creator_cursors c join parties p on p.id = c.party_id
           where c.last_at > now() - $1::float8 * interval '1 ms' and p.wallet is not null`,
    values: [ms],
  })
}
