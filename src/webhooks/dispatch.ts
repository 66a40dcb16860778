import { presentEvent } from '../events/event.js'
import { parseTraceparent, traceparentOf } from '../kernel/trace-context.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { Services } from '../services.js'
import {
  type DueDelivery,
  fanOut,
  pageSize,
  type Result,
  readDuePage,
  settlePage,
  type TakenEndpoint,
  takeEndpoints,
} from './endpoint-queue.js'
import { restMs, retryInMs } from './retry-schedule.js'
import { type Attempt, sendWebhook } from './send-webhook.js'
import { openSigningKeys, type SigningKeys, signatureHeaders } from './sign-webhook.js'
import type { Reach } from './target.js'

type Needs = Pick<Services, 'config' | 'db' | 'log' | 'metrics' | 'wake' | 'tracing'>

/** Endpoints that a process serves at the same time. Those that fail or are slow have slots of their own: each may hold one for long. */
const slots = 64
const lateSlots = 32
/** Deliveries of one endpoint at the same time: one more after each success, one after a failure. */
const mostAtOnce = 8
const firstAtOnce = 4
/** Failures in a row that end a page: the endpoint is away. */
const awayAfter = 3
/** Begins no further page or attempt of an endpoint after it. */
const sliceMs = 10_000
/** Events that are older are found once a minute: their transaction has taken that long, or the process has just started. */
const recentSeconds = 30
const allEveryMs = 60_000

/**
 * Sends events to webhooks. A batch makes deliveries of new events and takes due endpoints; what is sent to them goes on after it,
 * so that an endpoint that hangs delays no other. The work row is the endpoint (docs/decisions/0074).
 */
export function createDispatcherBatch(services: Needs, reach: Reach): Batch & { stop(): Promise<void> } {
  const running = new Map<Promise<void>, Pick<TakenEndpoint, 'late'>>()
  let lookedAtAll = Number.NEGATIVE_INFINITY
  let stopped = false

  async function fanOutAll(): Promise<number> {
    const all = performance.now() - lookedAtAll >= allEveryMs
    const moved = await fanOut(services.db, all ? null : recentSeconds)
    if (all && moved === 0) lookedAtAll = performance.now()
    return moved
  }
  function start(endpoint: TakenEndpoint): void {
    const serving = serve(services, reach, endpoint, () => stopped)
      .catch((error: unknown) => {
        services.metrics.batchErrors.inc({ kind: 'dispatcher' })
        services.log.warn({ err: error, endpoint: endpoint.id }, 'an endpoint was left; it becomes due again')
      })
      .finally(() => running.delete(serving))
    running.set(serving, endpoint)
  }
  async function batch() {
    const moved = await fanOutAll()
    const late = (): number => [...running.values()].filter((endpoint) => endpoint.late).length
    // Whoever is due waits for a slot anyway.
    if (running.size - late() >= slots) await Promise.race(running.keys())
    const taken = await takeEndpoints(
      services.db,
      Math.max(0, slots + late() - running.size),
      lateSlots - late(),
    )
    for (const endpoint of taken) start(endpoint)
    return { taken: moved + taken.length }
  }
  return Object.assign(batch, {
    async stop() {
      stopped = true
      await Promise.all(running.keys())
    },
  })
}

/** Sends what is due of an endpoint, page by page, until nothing is or its time is over. */
async function serve(
  { config, db, wake, tracing }: Needs,
  reach: Reach,
  endpoint: TakenEndpoint,
  isStopped: () => boolean,
): Promise<void> {
  const started = performance.now()
  const hasTime = (): boolean => !isStopped() && performance.now() - started < sliceMs
  const keys = openSigningKeys(config, endpoint)
  const target = { url: endpoint.url, keys, reach, tracing }
  let atOnce = endpoint.failures === 0 ? firstAtOnce : 1
  for (let ours = true; ours; ) {
    const due = await readDuePage(db, endpoint.id)
    const sent = await sendPage(target, due, atOnce, hasTime)
    atOnce = sent.atOnce
    const onlyFailed = sent.results.length > 0 && sent.results.every(({ ok }) => !ok)
    const full = due.length === pageSize || sent.results.length < due.length
    ours = await settlePage(db, endpoint, sent.results, {
      full,
      goOn: hasTime(),
      restMs: onlyFailed || sent.askedMs > 0 ? restMs(endpoint.failures, sent.askedMs) : null,
    })
    if (full && !ours && !onlyFailed) wake('dispatcher')
  }
}

interface Target {
  readonly url: string
  readonly keys: SigningKeys
  readonly reach: Reach
  readonly tracing: Services['tracing']
}

/** Sends a page in its order, several at once. Ends early when the endpoint is away or its time is over. */
async function sendPage(
  target: Target,
  due: readonly DueDelivery[],
  atOnceBefore: number,
  hasTime: () => boolean,
): Promise<{ readonly results: Result[]; readonly atOnce: number; readonly askedMs: number }> {
  const results: Result[] = []
  const waiting = [...due]
  const open = new Set<Promise<void>>()
  let atOnce = atOnceBefore
  let failedInRow = 0
  let askedMs = 0
  async function one(delivery: DueDelivery): Promise<void> {
    const attempt = await sendDelivery(target, delivery)
    atOnce = attempt.ok ? Math.min(atOnce + 1, mostAtOnce) : 1
    failedInRow = attempt.ok ? 0 : failedInRow + 1
    askedMs = Math.max(askedMs, attempt.retryAfterMs)
    const { ok, status, ms, answer, retryAfterMs } = attempt
    const dueInMs = ok ? null : retryInMs(delivery.tries + 1, retryAfterMs)
    results.push({ sequence: delivery.sequence, ok, status, ms, answer, dueInMs })
  }
  const mayBegin = (): boolean => failedInRow < awayAfter && askedMs === 0 && hasTime()
  while (waiting.length > 0 && mayBegin()) {
    const delivery = waiting.shift()
    if (delivery === undefined) break
    const sending = one(delivery).finally(() => open.delete(sending))
    open.add(sending)
    while (open.size >= atOnce) await Promise.race(open)
  }
  await Promise.all(open)
  return { results, atOnce, askedMs }
}

async function sendDelivery({ url, keys, reach, tracing }: Target, delivery: DueDelivery): Promise<Attempt> {
  const event = presentEvent(delivery)
  const body = JSON.stringify(event)
  const startMs = Date.now()
  const cause = parseTraceparent(delivery.traceparent ?? undefined)
  const place = tracing === undefined ? cause : tracing.within(cause)
  const headers = {
    ...signatureHeaders(keys, { id: event.id, body }, startMs),
    ...(place !== undefined && { traceparent: traceparentOf(place) }),
  }
  const attempt = await sendWebhook({ url, headers, body }, reach)
  if (tracing !== undefined && place !== undefined)
    tracing.record({
      ...place,
      parentSpanId: cause?.spanId,
      name: `webhook ${event.type}`,
      kind: 'client',
      startMs,
      endMs: Date.now(),
      attributes: {
        'http.request.method': 'POST',
        ...(attempt.status !== null && { 'http.response.status_code': attempt.status }),
        'server.address': new URL(url).hostname,
        'tipping.event_id': event.id,
      },
      failed: !attempt.ok,
    })
  return attempt
}
