import { lookFor, type OverlayLook } from './look.js'
import { type Alert, add, emptyQueue, type Queue, remove, type Tip, take } from './queue.js'

export type Phase = 'enter' | 'show' | 'exit'

interface PlayerOutput {
  readonly show: (alert: Alert | undefined, phase: Phase) => void
  /** Stores the cursor from which the next page load reads, and which tips were shown. */
  readonly saveCursor: (cursor: string, shown: readonly string[]) => void
}

/** A clock. A run with thousands of alerts has a faster one. */
type Later = (work: () => void, ms: number) => ReturnType<typeof setTimeout>

type Step = readonly [afterMs: number, work: () => void]

type Begin = Pick<Queue, 'cursor' | 'shown'>
type PlayerSettings = Pick<
  OverlayLook,
  'minUsd' | 'replayMinutes' | 'queue' | 'gapMs' | 'tiers' | 'template' | 'sound' | 'durationMs'
>

/** The durations of the animations in overlay.css. */
const enterMs = 450
const exitMs = 350

/** Shows one alert at a time: enter, show, exit, pause. */
export class Player {
  /** May change at any time; the alert that is shown keeps its own. */
  settings: PlayerSettings
  readonly #output: PlayerOutput
  readonly #later: Later
  #queue: Queue
  #playing: Alert | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #held = false
  #connectedMs = 0

  constructor(
    settings: PlayerSettings,
    begin: Begin,
    output: PlayerOutput,
    later: Later = (work, ms) => setTimeout(work, ms),
  ) {
    this.settings = settings
    this.#output = output
    this.#later = later
    this.#queue = { ...emptyQueue(begin.cursor), shown: begin.shown }
  }

  /** The stream is read after this tip. */
  get cursor(): string | undefined {
    return this.#queue.cursor
  }

  /**
   * A connection begins, at this time of the service's clock. The very first one sets the cursor: earlier tips are not shown, tips missed
   * later are.
   */
  connected(atMs: number | undefined, cursor: string | undefined): void {
    this.#connectedMs = atMs ?? this.#connectedMs
    if (this.#queue.cursor === undefined && cursor !== undefined) this.#setQueue({ ...this.#queue, cursor })
  }

  add(tip: Tip): void {
    const { minUsd, replayMinutes, queue: maxWaiting } = this.settings
    const rules = { minUsd, replayMs: replayMinutes * 60_000, maxWaiting, connectedMs: this.#connectedMs }
    this.#setQueue(add(this.#queue, tip, rules))
    this.#next()
  }

  /** A tip that must not be shown any more, also not while it is shown. */
  remove(eventId: string): void {
    this.#setQueue(remove(this.#queue, eventId))
    if (this.#playing?.kind !== 'tip' || this.#playing.tip.eventId !== eventId) return
    this.#stop()
    this.#next()
  }

  /** Shows this one at once, in place of all others. */
  replace(tip: Tip): void {
    this.#stop()
    this.#setQueue({ ...this.#queue, waiting: [tip], more: undefined })
    this.#next()
  }

  /** While held, the current alert finishes and no new one starts. */
  hold(held: boolean): void {
    this.#held = held
    this.#next()
  }

  #next(): void {
    if (this.#playing !== undefined || this.#held) return
    const taken = take(this.#queue)
    if (taken === undefined) return
    this.#playing = taken.alert
    // Save the cursor before showing: a page that closes in between loses one alert, but shows none twice.
    this.#setQueue(taken.rest)
    this.#play(taken.alert)
  }

  #play(alert: Alert): void {
    const { show } = this.#output
    const { durationMs } = lookFor(this.settings, alert.kind === 'tip' ? alert.tip.valueUsd : 0)
    const exitAt = Math.max(durationMs, enterMs)
    show(alert, 'enter')
    this.#follow([
      [enterMs, () => show(alert, 'show')],
      [exitAt - enterMs, () => show(alert, 'exit')],
      [exitMs, () => show(undefined, 'exit')],
      [
        this.settings.gapMs,
        () => {
          this.#playing = undefined
          this.#next()
        },
      ],
    ])
  }

  /** Each step begins the wait for the next one: timers that are set together may fire in any order when they are late. */
  #follow([step, ...rest]: readonly Step[]): void {
    if (step === undefined) return
    const [afterMs, work] = step
    this.#timer = this.#later(() => {
      this.#follow(rest)
      work()
    }, afterMs)
  }

  #stop(): void {
    clearTimeout(this.#timer)
    if (this.#playing !== undefined) this.#output.show(undefined, 'exit')
    this.#playing = undefined
  }

  #setQueue(queue: Queue): void {
    if (queue.cursor !== undefined && queue.cursor !== this.#queue.cursor)
      this.#output.saveCursor(queue.cursor, queue.shown)
    this.#queue = queue
  }
}
