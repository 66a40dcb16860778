import type { Knex } from 'knex'
import { eventText } from '../../http/sse.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { tipChannel } from '../confirm/confirm-tips.js'
import { confirmedColumns, type PricedTip, presentTipEvent } from './present.js'

/** One open stream of a wallet. */
interface Reader {
  /** The stamp (epoch ms) of the last event sent to it, which is also the `id` of that event. */
  cursor: number
  closed: boolean
  /** Sends one event in event-stream format. Returns false when the reader was dropped. */
  readonly send: (text: string) => boolean
}

interface WalletReaders {
  readonly readers: Set<Reader>
  readonly unlisten: () => void
}

/** How often the hub polls for confirmations whose notification was lost. */
const pollMs = 3000
/** How far a poll reads back before the previous one: a slow transaction commits its stamp late. */
const pollMarginMs = 10_000
/** Tips of one wallet in one read. A reader that is further behind gets the rest in the next read. */
const pageSize = 100

/**
 * Sends newly confirmed tips to the readers of this process. A notification only says that a wallet has new tips. What is
 * sent is always read from the database after the cursor of each reader (docs/decisions/0025). So the first read, a live
 * event, a replay and a lost notification take the same path, and each reader gets every tip once, in order.
 */
export class StreamHub {
  readonly #services: Pick<Services, 'db' | 'notifications' | 'log'>
  readonly #wallets = new Map<string, WalletReaders>()
  /** Wallets to read for. */
  readonly #pending = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #reading: Promise<void> | undefined
  /** When the last successful poll started. */
  #polledAtMs = performance.now()

  constructor(services: Pick<Services, 'db' | 'notifications' | 'log'>) {
    this.#services = services
    services.notifications.onReconnect(() => this.#poll())
    this.#timer = setInterval(() => this.#poll(), pollMs)
  }

  /** Calls `send` for every tip of the wallet confirmed after `cursor`, until the returned function is called. */
  open(wallet: string, cursor: number, send: Reader['send']): () => void {
    const reader: Reader = { cursor, closed: false, send }
    this.#readersOf(wallet).readers.add(reader)
    this.#requestRead(wallet)
    return () => {
      reader.closed = true
      const entry = this.#wallets.get(wallet)
      if (entry?.readers.delete(reader) !== true || entry.readers.size > 0) return
      this.#wallets.delete(wallet)
      entry.unlisten()
    }
  }

  /** Stops polling and waits for the running read. The callers of `open` close their readers. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    while (this.#reading !== undefined) await this.#reading
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
    this.#read()
  }

  #read(): void {
    this.#reading ??= this.#readPending().then(
      () => {
        this.#reading = undefined
        // Requested after the last read had started.
        if (this.#pending.size > 0) this.#read()
      },
      (error: unknown) => {
        this.#reading = undefined
        this.#services.log.warn(
          { err: error },
          'confirmed tips could not be read: the next poll reads them again',
        )
      },
    )
  }

  async #readPending(): Promise<void> {
    while (this.#pending.size > 0) {
      // Only for readers present now: one that joins during the read may need older tips, and requests its own read.
      const present = new Map(
        [...this.#pending].map((wallet) => [wallet, [...(this.#wallets.get(wallet)?.readers ?? [])]]),
      )
      this.#pending.clear()
      const cursors = new Map<string, number>()
      for (const [wallet, readers] of present)
        if (readers.length > 0) cursors.set(wallet, Math.min(...readers.map(({ cursor }) => cursor)))
      try {
        if (cursors.size > 0) await this.#deliver(present, cursors)
      } catch (error) {
        // The next poll repeats the read. Nothing else would request a replay of old events.
        for (const wallet of cursors.keys()) this.#pending.add(wallet)
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
      // After a full page there may be more tips.
      if (tips.length === pageSize) this.#pending.add(wallet)
      for (const tip of tips) {
        const at = tip.confirmedAt.getTime()
        const text = eventText(presentTipEvent(tip), at)
        // Skips a reader that left during the read. When it reconnects, it gets this event by its cursor.
        for (const reader of present.get(wallet) ?? []) {
          if (reader.closed || at <= reader.cursor) continue
          reader.cursor = at
          reader.send(text)
        }
      }
    }
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
        if (this.#pending.size > 0) this.#read()
      },
      () => undefined,
    )
  }

  #requestReadIfBehind(wallet: string, lastAt: number): void {
    const readers = [...(this.#wallets.get(wallet)?.readers ?? [])]
    if (readers.some(({ cursor }) => cursor < lastAt)) this.#requestRead(wallet)
  }
}

/** The tips of each wallet confirmed after its cursor (epoch ms), oldest first, at most `pageSize` each. */
async function confirmedAfter(
  db: Knex,
  cursors: ReadonlyMap<string, number>,
): Promise<Map<string, PricedTip[]>> {
  const rows = await query<PricedTip & { readonly of: string }>(db, {
    name: 'tips.confirmed-after',
    text: /* sql */ `
      select ${confirmedColumns}, p.usd, c.wallet as of
      from unnest($1::text[], $2::float8[]) as c(wallet, after_ms)
      join parties r on r.wallet = c.wallet
      cross join lateral (
        select * from tips where recipient_party = r.id and status = 'confirmed'
          and confirmed_at > 'epoch'::timestamptz + c.after_ms * interval '1 ms'
        order by confirmed_at limit ${pageSize}) t
      left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      order by t.confirmed_at`,
    values: [[...cursors.keys()], [...cursors.values()]],
  })
  const byWallet = new Map<string, PricedTip[]>()
  for (const row of rows) byWallet.set(row.of, [...(byWallet.get(row.of) ?? []), row])
  return byWallet
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
