import { lookOf } from '../../src/pages/overlay/look.js'
import type { Memory } from '../../src/pages/overlay/memory.js'
import { defaults } from '../../src/pages/overlay/parameters.js'
import { type Phase, Player } from '../../src/pages/overlay/player.js'
import type { Alert } from '../../src/pages/overlay/queue.js'
import { tokenSource } from '../../src/pages/overlay/source.js'

/** An alert takes seconds on a stream, and so many times less here. */
const haste = 100

/** A tip that the stream has sent. */
interface Told {
  readonly eventId: string
  readonly stamp: number
  readonly message: string | null
  /** In ms since the epoch: when it came, and when its connection was made. */
  readonly at: number
  readonly connectedAt: number
}

/** An overlay's page without a browser: the page's own source, queue and player. It reads from the `location` of this process. */
export class OverlayPage {
  /** A page that is loaded again is told again what it has not shown. */
  readonly told: Told[] = []
  /** The tips of the alerts in the order in which they were shown. */
  readonly shown: string[] = []
  /** The tips that it was told to take away. */
  readonly removed = new Set<string>()
  readonly faults: string[] = []
  connections = 0
  /** Tips that were not shown one by one, because the queue was full. */
  summedUp = 0
  readonly #token: string
  #memory: Memory
  #onScreen: Alert | undefined
  #stop = new AbortController()

  constructor(token: string, cursor?: string) {
    this.#token = token
    this.#memory = { cursor, shown: [] }
    this.load()
  }

  /** Loads the page again. It knows only what a browser has stored. */
  load(): void {
    this.close()
    const stop = new AbortController()
    const isOpen = (): boolean => !stop.signal.aborted
    const player = new Player(
      lookOf(defaults),
      this.#memory,
      {
        show: (alert, phase) => {
          if (isOpen()) this.#show(alert, phase)
        },
        saveCursor: (cursor, shown) => {
          if (isOpen()) this.#memory = { cursor, shown }
        },
      },
      (work, ms) => setTimeout(work, ms / haste),
    )
    stop.signal.addEventListener('abort', () => player.hold(true))
    this.#stop = stop
    this.#onScreen = undefined
    let connectedAt = 0
    let last = Number(this.#memory.cursor ?? 0)
    tokenSource(this.#token).start(
      {
        lastEventId: () => player.cursor,
        onConnected: (atMs, cursor) => {
          this.connections += 1
          connectedAt = Date.now()
          player.connected(atMs, cursor)
        },
        onTip: (tip) => {
          const { eventId = '', message } = tip
          const stamp = Number(tip.id)
          if (stamp <= last) this.faults.push(`was told of ${stamp} after ${last}`)
          last = stamp
          this.told.push({ eventId, stamp, message, at: Date.now(), connectedAt })
          player.add(tip)
        },
        onRemoved: (eventId) => {
          this.removed.add(eventId)
          player.remove(eventId)
        },
        onSettings: (settings) => {
          player.settings = settings
        },
        onTest: () => this.faults.push('was told of a test that nobody made'),
        onFault: (fault) => fault !== undefined && this.faults.push(`shows "${fault}"`),
        onDisconnected: () => undefined,
      },
      stop.signal,
    )
  }

  close(): void {
    this.#stop.abort()
  }

  #show(alert: Alert | undefined, phase: Phase): void {
    const before = this.#onScreen
    this.#onScreen = alert
    if (alert === undefined) return
    if (phase !== 'enter') {
      if (before !== alert) this.faults.push('went on with an alert that is not on the screen')
      return
    }
    if (before !== undefined) this.faults.push('showed two alerts at the same time')
    if (alert.kind === 'more') {
      this.summedUp += alert.more.count
      return
    }
    const { eventId = '' } = alert.tip
    if (this.removed.has(eventId)) this.faults.push(`showed ${eventId} after it was told to take it away`)
    this.shown.push(eventId)
  }
}
