import test from 'ava'
import fc from 'fast-check'
import { eventText } from '../../src/http/sse.js'
import { seededRuns } from '../helpers/random.js'

test('an event is an optional id line, one data line and a blank line', (t) => {
  t.is(eventText({ status: 'connected' }), 'data: {"status":"connected"}\n\n')
  t.is(eventText({ type: 'tip' }, 1767323045000), 'id: 1767323045000\ndata: {"type":"tip"}\n\n')
  t.is(eventText({}, 0), 'id: 0\ndata: {}\n\n')
})

test('line breaks in a message stay within the data line', (t) => {
  t.is(eventText({ message: 'a\n\nb\r\ndata: c' }), 'data: {"message":"a\\n\\nb\\r\\ndata: c"}\n\n')
})

/** Parses one event as a reader does (HTML standard, event stream interpretation). */
function parseEvent(text: string): { id: string | undefined; data: string[] } {
  const lines = text.split(/\r\n|\n|\r/)
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  return { id: field('id')[0], data: field('data') }
}

test('a parsed event has exactly the data that was sent', (t) => {
  const message = fc.string({
    unit: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 1 }),
      fc.constantFrom('\n', '\r', '\u2028', '\0', 'data: '),
    ),
  })
  fc.assert(
    fc.property(message, fc.integer({ min: 0, max: 2 ** 45 }), (text, id) => {
      const sent = eventText({ message: text }, id)
      const event = parseEvent(sent)
      t.is(event.id, String(id))
      t.is(event.data.length, 1)
      t.deepEqual(JSON.parse(event.data[0] ?? ''), { message: text })
      t.true(sent.endsWith('\n\n'))
      t.is(sent.indexOf('\n\n'), sent.length - 2, 'nothing in the data ends the event early')
    }),
    seededRuns(t),
  )
})
