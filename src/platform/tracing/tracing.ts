import { randomBytes } from 'node:crypto'
import { contextOf, type Origin, type TraceContext } from '../../kernel/trace-context.js'
import type { Log } from '../log.js'
import { within } from '../within.js'
import type { Batch } from '../worker/batch-loop.js'
import type { Span } from './otlp.js'

/** What a process sends to an OpenTelemetry collector. Nothing waits for it, and it never throws. */
export interface Tracing {
  /** A new place below this one; without one in a new trace. */
  within(parent: TraceContext | undefined): TraceContext
  record(span: Span): void
  /** A line of the log about a row, as a span of the request that made the row. */
  recordStep(fields: Readonly<Record<string, unknown>>, text: string, startMs: number): void
  close(): Promise<void>
}

/** Further spans are dropped: a collector that is away costs no more memory than these. */
const mostWaiting = 2048
const mostSent = 512
const sendEveryMs = 1000
const tellEveryMs = 60_000
const closeMs = 2000

/** `url`: of the collector. Its exporter is loaded with the first span. */
export function createTracing(url: string, process: string, log: Log): Tracing {
  let waiting: Span[] = []
  let dropped = 0
  let toldAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined

  function drop(spans: number, error?: unknown): void {
    dropped += spans
    if (performance.now() - toldAt < tellEveryMs) return
    log.warn({ err: error, spans: dropped }, 'spans were not sent to the collector and are lost')
    toldAt = performance.now()
    dropped = 0
  }
  async function sendAll(): Promise<void> {
    const { sendSpans } = await import('./otlp.js')
    while (waiting.length > 0) {
      const spans = waiting.slice(0, mostSent)
      waiting = waiting.slice(mostSent)
      await sendSpans(url, process, spans).catch((error: unknown) => drop(spans.length, error))
    }
  }
  function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendAll()
      .catch((error: unknown) => drop(waiting.splice(0).length, error))
      .finally(() => {
        sending = undefined
      })
    return sending
  }
  function record(span: Span): void {
    if (waiting.length < mostWaiting) waiting.push(span)
    else drop(1)
    timer ??= setTimeout(() => void send(), sendEveryMs).unref()
  }
  const place = (parent: TraceContext | undefined): TraceContext => ({
    traceId: parent?.traceId ?? randomHex(16),
    spanId: randomHex(8),
  })
  return {
    within: place,
    record,
    recordStep({ requestId = null, traceId = null, tip, reference }, name, startMs) {
      const parent = contextOf({ requestId, traceId } as Origin)
      if (parent === undefined) return
      const attributes = { 'tipping.row': String(tip ?? reference) }
      const span = { name, kind: 'internal', startMs, endMs: Date.now(), attributes } as const
      record({ ...place(parent), parentSpanId: parent.spanId, ...span })
    },
    async close() {
      await within(closeMs, send())
      clearTimeout(timer)
    },
  }
}

/** A batch that records a span of its own when it took rows or failed. */
export function traceBatch(tracing: Tracing | undefined, kind: string, batch: Batch): Batch {
  if (tracing === undefined) return batch
  async function traced() {
    const startMs = Date.now()
    const record = (rows: number, failed: boolean): void =>
      tracing?.record({
        ...tracing.within(undefined),
        name: `batch ${kind}`,
        kind: 'internal',
        startMs,
        endMs: Date.now(),
        attributes: { 'tipping.rows': rows },
        failed,
      })
    try {
      const report = await batch()
      if (report.taken > 0) record(report.taken, false)
      return report
    } catch (error) {
      record(0, true)
      throw error
    }
  }
  return Object.assign(traced, batch)
}

const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex')
