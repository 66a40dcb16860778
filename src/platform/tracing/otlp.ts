import { serviceName } from '../../kernel/brand.js'
import type { TraceContext } from '../../kernel/trace-context.js'
import { requestAnyStatus } from '../http-client.js'

/** A piece of work with its place in a trace. Times in epoch ms. */
export interface Span extends TraceContext {
  readonly parentSpanId?: string | undefined
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number>>
  readonly failed?: boolean
}

const timeoutMs = 10_000
const mostAnswerBytes = 64 * 1024
const kinds = { internal: 1, server: 2, client: 3 } as const
const failedStatus = 2

/** Sends spans by OTLP over HTTP in JSON. Throws when the collector did not take them. */
export async function sendSpans(url: string, process: string, spans: readonly Span[]): Promise<void> {
  const body = bodyOf(process, spans)
  const request = { method: 'POST', body, timeoutMs, maxBytes: mostAnswerBytes } as const
  const { status } = await requestAnyStatus(`${url}/v1/traces`, request)
  if (status < 200 || status > 299) throw new Error(`${new URL(url).host} answered ${status}`)
}

function bodyOf(process: string, spans: readonly Span[]): object {
  const service = serviceName.toLowerCase()
  const resource = { 'service.namespace': service, 'service.name': `${service}-${process}` }
  const scopeSpans = [{ scope: { name: service }, spans: spans.map(spanOf) }]
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] }
}

function spanOf({
  traceId,
  spanId,
  parentSpanId,
  name,
  kind,
  startMs,
  endMs,
  attributes,
  failed,
}: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    status: failed === true ? { code: failedStatus } : {},
  }
}

/** Numbers are whole. In JSON they are texts, as 64 bits are. */
function attributesOf(attributes: Span['attributes']): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(Math.round(value)) },
  }))
}

const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`
