import test from 'ava'
import { contextOf, namedOrigin, parseTraceparent, traceparentOf } from '../../src/kernel/trace-context.js'

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
const requestId = '019a0b1c-2d3e-7f40-8a1b-2c3d4e5f6071'

test('a traceparent is read as the standard says, and nothing else is', (t) => {
  for (const text of [
    `00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-00`,
    `01-${traceId}-${spanId}-09`,
    `cc-${traceId}-${spanId}-01-what-comes-later`,
  ])
    t.deepEqual(parseTraceparent(text), { traceId, spanId }, text)
  for (const text of [
    undefined,
    '',
    `ff-${traceId}-${spanId}-01`,
    `0-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01-`,
    `00-${traceId}-${spanId}-01.more`,
    `cc-${traceId}-${spanId}-01more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}0-${spanId}-01`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `00-${traceId.replace('4', '٤')}-${spanId}-01`,
    `00-${traceId.slice(0, 31)}\u0000-${spanId}-01`,
    `00-${'a'.repeat(70_000)}`,
  ])
    t.is(parseTraceparent(text), undefined, text?.slice(0, 80))
})

test("a request's id is its trace, and the end of it its span", (t) => {
  const [trace, span] = ['019a0b1c2d3e7f408a1b2c3d4e5f6071', '8a1b2c3d4e5f6071']
  t.deepEqual(contextOf({ requestId, traceId: null }), { traceId: trace, spanId: span })
  t.deepEqual(contextOf({ requestId, traceId }), { traceId, spanId: span })
  const asUuid = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'
  t.deepEqual(contextOf({ requestId: null, traceId: asUuid }), { traceId, spanId: traceId.slice(16) })
  t.is(contextOf({ requestId: null, traceId: null }), undefined)
  t.is(
    contextOf({ requestId: null, traceId: `${'a'.repeat(16)}${'0'.repeat(16)}` }),
    undefined,
    'no such span',
  )
  const context = contextOf({ requestId, traceId })
  t.deepEqual(context && parseTraceparent(traceparentOf(context)), context)
  t.deepEqual(namedOrigin({ requestId, traceId: null }), { requestId, traceId: trace })
  t.deepEqual(namedOrigin({ requestId: null, traceId: null }), { requestId: null })
})
