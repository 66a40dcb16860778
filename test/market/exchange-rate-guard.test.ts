import test from 'ava'
import { findRateFault } from '../../src/market/exchange-rate-guard.js'

const naira = (value: number): bigint => BigInt(Math.round(value * 1e8))
const window = { lowest: naira(1600), highest: naira(1600), median: naira(1600), vouched: undefined }
const fresh = { ageSeconds: 5, window, second: undefined }
const limits = { jumpPercent: 20, windowPercent: 20, minNgn: undefined, maxNgn: undefined }

test('a rate within 20 % of the last one is used, and one beyond it is not', (t) => {
  for (const value of [1600, 1280, 1920, 1599.99])
    t.is(findRateFault({ ...fresh, value: naira(value) }, limits), undefined)
  for (const value of [1279.99, 1920.01, 16, 160_000])
    t.is(findRateFault({ ...fresh, value: naira(value) }, limits), 'jump')
})

test('a rate outside RATE_MIN_NGN and RATE_MAX_NGN is not used', (t) => {
  const bounded = { ...limits, minNgn: 1500.5, maxNgn: 1700 }
  for (const value of [1500.5, 1600, 1700])
    t.is(findRateFault({ ...fresh, value: naira(value) }, bounded), undefined)
  for (const value of [1500.49, 1700.01])
    t.is(findRateFault({ ...fresh, value: naira(value) }, bounded), 'range')
})

test('the second feed must agree within 3 %', (t) => {
  const reading = { ...fresh, value: naira(1600) }
  const second = (value: number | undefined, ageSeconds = 5) => ({
    value: value === undefined ? undefined : naira(value),
    ageSeconds,
  })
  for (const value of [1552, 1600, 1648])
    t.is(findRateFault({ ...reading, second: second(value) }, limits), undefined)
  t.is(findRateFault({ ...reading, second: 'unanswered' }, limits), 'unconfirmed')
  t.is(findRateFault({ ...reading, value: naira(1921), second: 'unanswered' }, limits), 'jump')
  for (const other of [second(1551.99), second(1648.01), second(undefined), second(1600, 601)])
    t.is(findRateFault({ ...reading, second: other }, limits), 'second')
})

test('near a rate that an operator accepted, the limits and the second feed do not count', (t) => {
  const vouched = { ...window, vouched: naira(1600) }
  const bounded = { ...limits, maxNgn: 1500 }
  const second = { value: naira(1200), ageSeconds: 5 }
  t.is(findRateFault({ ...fresh, window: vouched, value: naira(1640), second }, bounded), undefined)
  t.is(findRateFault({ ...fresh, window: vouched, value: naira(1650), second }, bounded), 'range')
})
