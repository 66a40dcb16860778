import type { Knex } from 'knex'
import { type Reads, readsOf } from '../platform/database/read-pool.js'
import type { Services } from '../services.js'

/** One event as its readers get it. `cursor` is also its `id` in the stream. */
export interface StreamEvent {
  readonly cursor: number
  readonly text: string
  readonly type: string
}

/** What a hub streams. A key is whose events they are, such as a wallet. */
export interface StreamSource {
  /** The channel that notifies of new events of a key. */
  channel(key: string): string
  /** The events of each key after its cursor, oldest first, at most `streamPageSize` each. */
  readAfter(db: Knex, reads: readonly Position[]): Promise<readonly (readonly StreamEvent[])[]>
  /** The keys with an event in the last `ms`, and its cursor. Reads a small table only. */
  movedWithin(db: Knex, ms: number): Promise<readonly Position[]>
}

export interface Position {
  readonly key: string
  readonly cursor: number
}

/** Rows of one statement as a page for each read. `place`: the read, from 1 on. */
export function pagesOf<Row extends { readonly place: number }>(
  reads: readonly Position[],
  rows: readonly Row[],
  present: (row: Row) => StreamEvent,
): StreamEvent[][] {
  const pages: StreamEvent[][] = reads.map(() => [])
  for (const row of rows) pages[row.place - 1]?.push(present(row))
  return pages
}

interface Reader {
  readonly key: string
  /** That of the last event sent to it. */
  cursor: number
  /** It lacks events that were there when it joined, and reads on from its own cursor until it has them. Then it is at the head. */
  isBehind: boolean
  closed: boolean
  readonly send: (event: StreamEvent) => void
}

interface KeyReaders {
  readonly readers: Set<Reader>
  readonly unlisten: () => void
}

/** The events of a key after a cursor, and the readers that may lack them. */
interface Read extends Position {
  readonly readers: Iterable<Reader>
}

type Needs = Pick<Services, 'db' | 'reads' | 'notifications' | 'log'>

/** How often the hub polls for events whose notification was lost. */
const pollMs = 3000
/** How far a poll reads back before the previous one: a slow transaction commits its stamp late. */
const pollMarginMs = 10_000
/** Events of one cursor in one read. A reader that is further behind gets the rest in the next read. */
export const streamPageSize = 100
/** Cursors of readers that are behind in one statement. The others wait for their turn. */
const mostBehindInOneRead = 10

/**
 * Sends new events to the readers of this process. A notification only says that a key has new events. What is
 * sent is always read from the database after the cursor of each reader (docs/decisions/0025). So the first read, a live
 * event, a replay and a lost notification take the same path, and each reader gets every event once, in order.
 *
 * Readers at the head share their reads. Those that are behind take turns in a loop of their own: anybody may ask for a whole
 * history again and again, and keeps nobody else from a live event.
 */
export class StreamHub {
  readonly #services: Needs
  readonly #source: StreamSource
  readonly #keys = new Map<string, KeyReaders>()
  /** Keys to read for. */
  readonly #pending = new Set<string>()
  /** The readers that are behind, by key and cursor, in the order of their turns. */
  readonly #behind = new Map<string, Read & { readonly readers: Set<Reader> }>()
  readonly #headLoop: ReturnType<typeof createReadLoop>
  readonly #behindLoop: ReturnType<typeof createReadLoop>
  readonly #timer: NodeJS.Timeout
  /** When the last successful poll started. */
  #polledAtMs = performance.now()

  constructor(services: Needs, source: StreamSource) {
    this.#services = services
    this.#source = source
    const warn = (err: unknown): void =>
      services.log.warn({ err }, 'events for streams could not be read: the next poll reads them again')
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
   * Calls `send` for every event of the key after `cursor`, until the returned function is called. `newest`: the cursor of its
   * newest event, read just before.
   */
  open({ key, cursor }: Position, newest: number, send: Reader['send']): () => void {
    const reader: Reader = { key, cursor, isBehind: cursor < newest, closed: false, send }
    this.#readersOf(key).readers.add(reader)
    if (reader.isBehind) {
      this.#addBehind(reader)
      this.#behindLoop.run()
    } else this.#requestRead(key)
    return () => {
      reader.closed = true
      const entry = this.#keys.get(key)
      if (entry?.readers.delete(reader) !== true || entry.readers.size > 0) return
      this.#keys.delete(key)
      entry.unlisten()
    }
  }

  /** Stops polling and waits for the running reads. The callers of `open` close their readers. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#behindLoop.end()
    await this.#headLoop.end()
  }

  #readersOf(key: string): KeyReaders {
    const existing = this.#keys.get(key)
    if (existing !== undefined) return existing
    const read = (): void => this.#requestRead(key)
    // Reads again once subscribed: events before that sent no notification to this process.
    const entry = {
      readers: new Set<Reader>(),
      unlisten: this.#services.notifications.listen(this.#source.channel(key), read, read),
    }
    this.#keys.set(key, entry)
    return entry
  }

  #requestRead(key: string): void {
    this.#pending.add(key)
    this.#headLoop.run()
  }

  #addBehind(reader: Reader): void {
    const { key, cursor } = reader
    const place = `${key} ${cursor}`
    const read = this.#behind.get(place)
    if (read === undefined) this.#behind.set(place, { key, cursor, readers: new Set([reader]) })
    else read.readers.add(reader)
  }

  async #readPending(): Promise<void> {
    const reads: Read[] = []
    for (const key of this.#pending) {
      // Only for readers at the head now: one that comes there during the read may need older events, and requests its own read.
      const atHead = [...(this.#keys.get(key)?.readers ?? [])].filter(({ isBehind }) => !isBehind)
      const cursor = Math.min(...atHead.map((reader) => reader.cursor))
      if (atHead.length > 0) reads.push({ key, cursor, readers: atHead })
    }
    this.#pending.clear()
    try {
      for (const { key } of await this.#deliver(reads, readsOf(this.#services.db))) this.#pending.add(key)
    } catch (error) {
      // The next poll repeats the read. Nothing else would request older events.
      for (const { key } of reads) this.#pending.add(key)
      throw error
    }
  }

  /** One page for each of the first in the queue. Who may lack more goes to its end. */
  async #readBehind(): Promise<void> {
    const reads = this.#takeBehind()
    let unfinished: readonly Read[] = reads
    try {
      unfinished = await this.#deliver(reads, this.#services.reads)
    } finally {
      for (const { readers } of unfinished)
        for (const reader of readers) if (!reader.closed) this.#addBehind(reader)
    }
    for (const read of reads) {
      if (unfinished.includes(read)) continue
      for (const reader of read.readers) reader.isBehind = false
      // Events since the page was read: their notification was not for these readers.
      this.#pending.add(read.key)
    }
    this.#headLoop.run()
  }

  #takeBehind(): Read[] {
    const reads: Read[] = []
    for (const [place, read] of this.#behind) {
      this.#behind.delete(place)
      if ([...read.readers].some(({ closed }) => !closed)) reads.push(read)
      if (reads.length === mostBehindInOneRead) break
    }
    return reads
  }

  /** Sends a page to the readers of each read. Returns the reads whose page was full: there may be more. */
  async #deliver(reads: readonly Read[], from: Reads): Promise<Read[]> {
    if (reads.length === 0) return []
    const pages = await from((db) => this.#source.readAfter(db, reads))
    // Skips a reader that left during the read. When it reconnects, it gets this event by its cursor.
    for (const [index, { readers }] of reads.entries())
      for (const event of pages[index] ?? [])
        for (const reader of readers) {
          if (reader.closed || event.cursor <= reader.cursor) continue
          reader.cursor = event.cursor
          reader.send(event)
        }
    return reads.filter((_, index) => pages[index]?.length === streamPageSize)
  }

  /** Reads back to the last successful poll: the process may have been paused, or the database unavailable. */
  #poll(): void {
    const startedAtMs = performance.now()
    if (this.#keys.size === 0) {
      this.#polledAtMs = startedAtMs
      return
    }
    const { db } = this.#services
    this.#source.movedWithin(db, startedAtMs - this.#polledAtMs + pollMarginMs).then(
      (recent) => {
        this.#polledAtMs = startedAtMs
        for (const { key, cursor } of recent) this.#requestReadIfBehind(key, cursor)
        // What a failed read has left.
        this.#headLoop.run()
        this.#behindLoop.run()
      },
      () => undefined,
    )
  }

  #requestReadIfBehind(key: string, newest: number): void {
    const readers = [...(this.#keys.get(key)?.readers ?? [])]
    if (readers.some(({ cursor, isBehind }) => !isBehind && cursor < newest)) this.#requestRead(key)
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
