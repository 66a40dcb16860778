import test from 'ava'
import type { Log } from '../../src/platform/log.js'
import type { Span } from '../../src/platform/tracing/otlp.js'
import { createTracing } from '../../src/platform/tracing/tracing.js'
import { startCollector } from '../helpers/servers/collector.js'
import { until } from '../helpers/until.js'

const spanOf = (tracing: ReturnType<typeof createTracing>, name: string): Span => ({
  ...tracing.within(undefined),
  name,
  kind: 'internal',
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001,
  attributes: { text: '‮"x"\u0000', number: 200 },
})

function watchLog() {
  const lost: number[] = []
  const warn = ({ spans }: { readonly spans: number }) => void lost.push(spans)
  return { lost, log: { warn } as unknown as Log }
}

test('spans reach the collector as OTLP', async (t) => {
  const collector = await startCollector(t)
  const { log, lost } = watchLog()
  const tracing = createTracing(collector.url, 'web', log)
  tracing.record({ ...spanOf(tracing, 'one'), failed: true })
  await until('it has arrived, or is lost', () => collector.spans.length + lost.length > 0)
  t.deepEqual(lost, [])
  await tracing.close()
  const [span, ...more] = collector.spans
  t.deepEqual(more, [])
  t.like(span, {
    service: 'tips-web',
    name: 'one',
    kind: 1,
    startTimeUnixNano: '1700000000000250000',
    endTimeUnixNano: '1700000000001000000',
    attributes: [
      { key: 'text', value: { stringValue: '‮"x"\u0000' } },
      { key: 'number', value: { intValue: '200' } },
    ],
    status: { code: 2 },
  })
  t.regex(`${span?.traceId} ${span?.spanId}`, /^[\da-f]{32} [\da-f]{16}$/)
  t.is(span?.parentSpanId, undefined)
})

test('a collector that fails, hangs or is away costs no work and bounded memory', async (t) => {
  const collector = await startCollector(t)
  for (const status of [500, null]) {
    collector.status = status
    const { log, lost } = watchLog()
    const tracing = createTracing(collector.url, 'web', log)
    for (let n = 0; n < 5000; n++) tracing.record(spanOf(tracing, String(n)))
    t.deepEqual(lost, [1], 'told at once, and then once a minute')
    // Returns although the collector never answers.
    await tracing.close()
  }
  collector.status = 200
  const { log, lost } = watchLog()
  const away = createTracing('http://127.0.0.1:1', 'web', log)
  away.record(spanOf(away, 'lost'))
  await until('the loss is told', () => lost.length === 1)
  await away.close()
  t.deepEqual(collector.spans, [])
})
