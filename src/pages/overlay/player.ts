import type { Parameters } from './parameters.js'
import { type Alert, add, emptyQueue, type Queue, type Rules, type Tip, take } from './queue.js'

export type Phase = 'enter' | 'show' | 'exit'

/** What the page does for the player. */
interface Stage {
  /** Shows an alert in a phase; undefined: nothing is shown. */
  readonly show: (alert: Alert | undefined, phase: Phase) => void
  /** Keeps where the next page load starts to read. */
  readonly keep: (cursor: string) => void
}

/** How long the animations of overlay.css take, ms. */
const enterMs = 450
const exitMs = 350

/** Shows one alert after the other: in, long enough to be read, out, a pause. Lives as long as the page. */
export class Player {
  readonly #parameters: Parameters
  readonly #rules: Rules
  readonly #stage: Stage
  #queue: Queue
  #playing = false
  #held = false

  constructor(parameters: Parameters, cursor: string | undefined, stage: Stage) {
    this.#parameters = parameters
    this.#rules = {
      minUsd: parameters.minUsd,
      replayMs: parameters.replayMinutes * 60_000,
      most: parameters.queue,
    }
    this.#stage = stage
    this.#queue = emptyQueue(cursor)
  }

  /** After which tip to read. */
  get cursor(): string | undefined {
    return this.#queue.cursor
  }

  /** The first connection ever: what was before it is no news, what comes while the page is away will be. */
  startAt(cursor: string): void {
    if (this.#queue.cursor === undefined) this.#become({ ...this.#queue, cursor })
  }

  add(tip: Tip): void {
    this.#become(add(this.#queue, tip, this.#rules, Date.now()))
    this.#next()
  }

  /** While held, what is shown goes on and nothing new begins. */
  hold(held: boolean): void {
    this.#held = held
    this.#next()
  }

  #next(): void {
    if (this.#playing || this.#held) return
    const taken = take(this.#queue)
    if (taken === undefined) return
    this.#playing = true
    // Kept before it is shown: a page that dies in between loses one alert, and none is ever shown twice.
    this.#become(taken.rest)
    this.#play(taken.alert)
  }

  #play(alert: Alert): void {
    const { durationMs, gapMs } = this.#parameters
    const { show } = this.#stage
    const gone = Math.max(durationMs, enterMs)
    show(alert, 'enter')
    setTimeout(() => show(alert, 'show'), enterMs)
    setTimeout(() => show(alert, 'exit'), gone)
    setTimeout(() => show(undefined, 'exit'), gone + exitMs)
    setTimeout(
      () => {
        this.#playing = false
        this.#next()
      },
      gone + exitMs + gapMs,
    )
  }

  #become(queue: Queue): void {
    if (queue.cursor !== undefined && queue.cursor !== this.#queue.cursor) this.#stage.keep(queue.cursor)
    this.#queue = queue
  }
}
