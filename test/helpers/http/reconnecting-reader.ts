import { until } from '../until.js'
import { openStream, type StreamReader } from './stream-reader.js'

interface Waiter {
  readonly at: number
  readonly resume: () => void
}

/**
 * The progress of a test run, counted in tips written. Its participants wait for progress, not for time, so a slow machine
 * makes the run longer but not smaller.
 */
export class RunProgress {
  #done = 0
  #over = false
  readonly #waiters = new Set<Waiter>()

  get done(): number {
    return this.#done
  }
  get over(): boolean {
    return this.#over
  }

  add(count: number): void {
    this.#done += count
    this.#resumeWaiters()
  }

  /** Ends the run. Everyone who waits continues. */
  end(): void {
    this.#over = true
    this.#resumeWaiters()
  }

  /** Resolves when this many more tips are written, or when the run is over. */
  untilMore(count: number): Promise<void> {
    return new Promise((resume) => {
      this.#waiters.add({ at: this.#done + count, resume })
      this.#resumeWaiters()
    })
  }

  #resumeWaiters(): void {
    for (const waiter of this.#waiters) {
      if (!this.#over && this.#done < waiter.at) continue
      this.#waiters.delete(waiter)
      waiter.resume()
    }
  }
}

/** Long enough for a connection on a loaded machine. */
const connectMs = 60_000

/** A reader of one wallet's stream that disconnects and reconnects. Keeps what it received over all its connections. */
export class ReconnectingReader {
  readonly wallet: string
  /** Event ids in the order they arrived, of closed connections. */
  readonly seen: number[] = []
  /** It must receive every tip confirmed after this time (epoch ms). Earlier tips came before it connected. */
  owedSince = Number.POSITIVE_INFINITY
  connections = 0
  #stream: StreamReader | undefined

  constructor(wallet: string) {
    this.wallet = wallet
  }

  /** Connects and resumes after the last event seen. Without one it starts anew. */
  open(url: string): void {
    if (this.seen.length === 0) this.owedSince = Number.POSITIVE_INFINITY
    this.#stream = openStream(url, this.wallet, this.seen.at(-1)?.toString())
    this.connections += 1
  }

  /** Opens a connection again that the server refused or that broke, as a browser does. */
  reopenIfClosed(url: string): void {
    if (this.#stream === undefined || this.#stream.isOpen()) return
    this.disconnect()
    this.open(url)
  }

  get connected(): boolean {
    if (this.#stream?.body().includes('"connected"') !== true) return false
    this.owedSince = Math.min(this.owedSince, Date.now())
    return true
  }

  /** Event ids of all connections, the open one included. */
  get allSeen(): number[] {
    return [...this.seen, ...(this.#stream?.tips ?? []).map(({ id }) => id)]
  }

  disconnect(): void {
    this.#stream?.close()
    this.seen.push(...(this.#stream?.tips ?? []).map(({ id }) => id))
    this.#stream = undefined
    if (this.seen.length === 0) this.owedSince = Number.POSITIVE_INFINITY
  }

  /** Connects and disconnects until the run is over. `urlOf`: the next server. `stay`: for how many tips of the run. */
  async reconnectUntilOver(run: RunProgress, urlOf: () => string, stay: () => number): Promise<void> {
    await run.untilMore(stay())
    while (!run.over) {
      this.open(urlOf())
      let leaves = false
      const stays = run.untilMore(stay()).then(() => {
        leaves = true
      })
      await until('it is connected or leaves', () => this.connected || leaves, connectMs)
      await stays
      this.disconnect()
      await run.untilMore(stay() / 2)
    }
  }
}
