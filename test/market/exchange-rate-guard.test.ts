import test from 'ava'
import { findRateFault } from '../../src/market/exchange-rate-guard.js'

const naira = (value: number): bigint => BigInt(Math.round(value * 1e8))
const fresh = { ageSeconds: 5, accepted: naira(1600) }

test('a rate within 20 % of the last one is used, and one beyond it is not', (t) => {
  for (const value of [1600, 1280, 1920, 1599.99])
    t.is(findRateFault({ ...fresh, value: naira(value) }, 20), undefined)
  for (const value of [1279.99, 1920.01, 16, 160_000])
    t.is(findRateFault({ ...fresh, value: naira(value) }, 20), 'jump')
})

test('a missing rate, or one older than ten minutes, is not used', (t) => {
  t.is(findRateFault({ ...fresh, value: undefined }, 20), 'missing')
  t.is(findRateFault({ ...fresh, value: naira(1600), ageSeconds: 601 }, 20), 'stale')
  t.is(findRateFault({ ...fresh, value: naira(1600), ageSeconds: 599 }, 20), undefined)
})

test('without an accepted rate of the last day every rate is used', (t) => {
  t.is(findRateFault({ value: naira(3), ageSeconds: 1, accepted: undefined }, 20), undefined)
})
