import test from 'ava'
import { parseTimestamp } from '../../src/kernel/timestamp.js'

const noon = Date.UTC(2026, 10, 1, 12)

test('14.6 every RFC 3339 form of a moment is read, without offset as UTC, and a blank for a plus', (t) => {
  for (const text of [
    '2026-11-01T12:00:00Z',
    '2026-11-01t12:00:00z',
    '2026-11-01 12:00:00Z',
    '2026-11-01T12:00Z',
    '2026-11-01T12:00:00',
    '2026-11-01 12:00:00',
    '2026-11-01T12:00:00.000000000Z',
    '2026-11-01T13:00:00+01:00',
    '2026-11-01T13:00:00 01:00',
    '2026-11-01 13:00:00 01:00',
    '2026-11-01T06:30:00-05:30',
    '2026-11-01T12:00:00-00:00',
    '2026-11-01T11:59:60Z',
  ])
    t.is(parseTimestamp(text), noon, text)
  t.is(parseTimestamp('2026-11-01T12:00:00.25Z'), noon + 250)
  t.is(parseTimestamp('2026-11-01T12:00:00.0005Z'), noon + 0.5)
  t.is(parseTimestamp('0000-01-01T00:00:00Z'), Date.parse('0000-01-01T00:00:00Z'))
})

test('14.6 other texts and moments that do not exist are not read', (t) => {
  for (const text of [
    '',
    '2026-11-01',
    '2026-11-01T12',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-01T24:00:00Z',
    '2026-11-01T12:60:00Z',
    '2026-11-01T12:00:61Z',
    '2026-11-01T12:00:00+24:00',
    '2026-11-01T12:00:00+01',
    '2026-11-01T12:00:00.Z',
    ' 2026-11-01T12:00:00Z',
    '2026-11-01T12:00:00Z\u0000',
    '+012026-11-01T12:00:00Z',
  ])
    t.is(parseTimestamp(text), undefined, text)
})
