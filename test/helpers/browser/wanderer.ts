import { openStream, type StreamReader } from '../http/stream-reader.js'
import type { Progress } from '../progress.js'
import { until } from '../until.js'

/** A connection on a loaded machine. */
const connectMs = 60_000

/** A reader of one wallet's stream that comes and goes, and what it has seen over all its connections. */
export class Wanderer {
  readonly wallet: string
  /** Stamps in the order they came. */
  readonly seen: number[] = []
  /** What was confirmed before this time (epoch ms) is not owed to it: it was not there yet. */
  since = Number.POSITIVE_INFINITY
  connections = 0
  #stream: StreamReader | undefined

  constructor(wallet: string) {
    this.wallet = wallet
  }

  /** Comes back after the last event it saw; one that has seen none begins anew. */
  open(url: string): void {
    if (this.seen.length === 0) this.since = Number.POSITIVE_INFINITY
    this.#stream = openStream(url, this.wallet, this.seen.at(-1)?.toString())
    this.connections += 1
  }

  get connected(): boolean {
    if (this.#stream?.body().includes('"connected"') !== true) return false
    this.since = Math.min(this.since, Date.now())
    return true
  }

  /** What has come on this connection, with what came before. */
  get all(): number[] {
    return [...this.seen, ...(this.#stream?.tips ?? []).map(({ id }) => id)]
  }

  leave(): void {
    this.#stream?.close()
    this.seen.push(...(this.#stream?.tips ?? []).map(({ id }) => id))
    this.#stream = undefined
    if (this.seen.length === 0) this.since = Number.POSITIVE_INFINITY
  }

  /** Comes and goes until the run is over. `urlOf` and `stay`: where to next, and for how much of the run. */
  async wander(run: Progress, urlOf: () => string, stay: () => number): Promise<void> {
    await run.more(stay())
    while (!run.over) {
      this.open(urlOf())
      let leaves = false
      const stays = run.more(stay()).then(() => {
        leaves = true
      })
      await until('it is connected or leaves', () => this.connected || leaves, connectMs)
      await stays
      this.leave()
      await run.more(stay() / 2)
    }
  }
}
