import type { Context } from 'koa'
import { EventStream, eventText, type HeartbeatWheel } from '../../http/sse.js'
import type { Services } from '../../services.js'
import { lastConfirmedAt } from './confirmed-after.js'
import type { StreamHub } from './stream-hub.js'

/** The streams of this process, and how they end together. */
export class TipStreams {
  readonly #services: Pick<Services, 'db' | 'metrics'>
  readonly #hub: StreamHub
  readonly #wheel: HeartbeatWheel
  readonly #open = new Set<EventStream>()
  #closing = false

  constructor(services: Pick<Services, 'db' | 'metrics'>, hub: StreamHub, wheel: HeartbeatWheel) {
    this.#services = services
    this.#hub = hub
    this.#wheel = wheel
  }

  /**
   * Serves one reader (contract: GET /chain/tips/stream): retry directive, connection event, then every newly
   * confirmed tip. `Last-Event-ID` starts it after that event, otherwise it starts now.
   */
  async serve(ctx: Context, wallet: string): Promise<void> {
    const stream = new EventStream(ctx)
    this.#open.add(stream)
    this.#services.metrics.openStreams.inc()
    const removeHeartbeat = this.#wheel.add(stream)
    let closeReader = (): void => undefined
    stream.onClose = () => {
      this.#open.delete(stream)
      this.#services.metrics.openStreams.dec()
      removeHeartbeat()
      closeReader()
    }
    const newest = await lastConfirmedAt(this.#services.db, wallet).catch(() => undefined)
    if (newest === undefined || this.#closing) {
      // An error status would make a browser's EventSource give up for good; an ended stream comes back in ten seconds.
      stream.finish()
      return
    }
    stream.send(eventText({ status: 'connected', wallet }))
    if (!stream.closed)
      closeReader = this.#hub.open(wallet, startOf(ctx.get('Last-Event-ID'), newest), (text) =>
        stream.send(text),
      )
  }

  /** Ends all streams, so that their readers come back to another process. */
  close(): void {
    this.#closing = true
    for (const stream of this.#open) stream.finish()
  }
}

/** Where to start: after the event the reader says it saw, never in the future. */
function startOf(lastEventId: string, newest: number): number {
  return /^\d{1,15}$/.test(lastEventId) ? Math.min(Number(lastEventId), newest) : newest
}
