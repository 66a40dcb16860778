import type { Parameters } from './parameters.js'
import { type Alert, add, emptyQueue, type Queue, type Rules, type Tip, take } from './queue.js'

export type Phase = 'enter' | 'show' | 'exit'

interface PlayerOutput {
  readonly show: (alert: Alert | undefined, phase: Phase) => void
  /** Stores the cursor from which the next page load reads, and which tips were shown. */
  readonly saveCursor: (cursor: string, shown: readonly string[]) => void
}

type Begin = Pick<Queue, 'cursor' | 'shown'>

/** The durations of the animations in overlay.css. */
const enterMs = 450
const exitMs = 350

/** Shows one alert at a time: enter, show, exit, pause. */
export class Player {
  readonly #parameters: Parameters
  readonly #rules: Rules
  readonly #output: PlayerOutput
  #queue: Queue
  #playing = false
  #held = false

  constructor(parameters: Parameters, begin: Begin, output: PlayerOutput) {
    this.#parameters = parameters
    this.#rules = {
      minUsd: parameters.minUsd,
      replayMs: parameters.replayMinutes * 60_000,
      maxWaiting: parameters.queue,
    }
    this.#output = output
    this.#queue = { ...emptyQueue(begin.cursor), shown: begin.shown }
  }

  /** The stream is read after this tip. */
  get cursor(): string | undefined {
    return this.#queue.cursor
  }

  /** Sets the cursor on the very first connection: earlier tips are not shown, tips missed later are. */
  startAt(cursor: string): void {
    if (this.#queue.cursor === undefined) this.#setQueue({ ...this.#queue, cursor })
  }

  add(tip: Tip): void {
    this.#setQueue(add(this.#queue, tip, this.#rules, Date.now()))
    this.#next()
  }

  /** While held, the current alert finishes and no new one starts. */
  hold(held: boolean): void {
    this.#held = held
    this.#next()
  }

  #next(): void {
    if (this.#playing || this.#held) return
    const taken = take(this.#queue)
    if (taken === undefined) return
    this.#playing = true
    // Save the cursor before showing: a page that closes in between loses one alert, but shows none twice.
    this.#setQueue(taken.rest)
    this.#play(taken.alert)
  }

  #play(alert: Alert): void {
    const { durationMs, gapMs } = this.#parameters
    const { show } = this.#output
    const exitAt = Math.max(durationMs, enterMs)
    show(alert, 'enter')
    setTimeout(() => show(alert, 'show'), enterMs)
    setTimeout(() => show(alert, 'exit'), exitAt)
    setTimeout(() => show(undefined, 'exit'), exitAt + exitMs)
    setTimeout(
      () => {
        this.#playing = false
        this.#next()
      },
      exitAt + exitMs + gapMs,
    )
  }

  #setQueue(queue: Queue): void {
    if (queue.cursor !== undefined && queue.cursor !== this.#queue.cursor)
      this.#output.saveCursor(queue.cursor, queue.shown)
    this.#queue = queue
  }
}
