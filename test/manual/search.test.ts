import test from 'ava'
import { findPlaces, type Place, snippetOf } from '../../src/pages/manual/find.js'

const place = (id: string, title: string, text = '', within = ''): Place => ({ id, title, within, text })
const places = [
  place('withdraw', 'Withdraw', 'Send an Idempotency-Key with every request.'),
  place('events', 'Verifying events', 'Each event once. since is the newest timestamp.'),
  place('since', 'since', 'Only events after it.', '/sdk/events'),
  place('polling', 'since and before', 'How to page.'),
]
const idsOf = (query: string) => findPlaces(places, query).map(({ id }) => id)

test('a search finds the places with every word, those named so first', (t) => {
  t.deepEqual(idsOf('since'), ['since', 'polling', 'events'])
  t.deepEqual(idsOf('  SINCE  /sdk/events '), ['since'])
  t.deepEqual(idsOf('idempotency'), ['withdraw'])
  t.deepEqual(idsOf('events'), ['events', 'since'])
  t.deepEqual(idsOf('nothing like it'), [])
  t.deepEqual(idsOf(' '), [])
})

test('a snippet shows the text around the first word that is found', (t) => {
  const long = place('x', 'X', `${'before '.repeat(60)}needle ${'after '.repeat(60)}`)
  const snippet = snippetOf(long, 'Needle')
  t.regex(snippet, /^…before .*needle after .*…$/)
  t.true(snippet.length < 150)
  t.is(snippetOf(place('x', 'X', 'short text'), 'absent'), 'short text')
})
