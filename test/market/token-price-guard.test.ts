import test from 'ava'
import fc from 'fast-check'
import {
  checkPriceReading,
  noPrice,
  type PriceState,
  type TimedPrice,
} from '../../src/market/token-price-guard.js'
import { seededRuns } from '../helpers/random.js'

const jumpPercent = 20
const second = 1000
const minute = 60 * second

/** `[seconds, price]` readings one after the other. */
function after(...readings: [atSeconds: number, price: bigint][]): PriceState {
  return readings.reduce<PriceState>(
    (state, [at, price]) => checkPriceReading(state, { price, atMs: at * second }, jumpPercent),
    noPrice,
  )
}

const reading = (atSeconds: number, price: bigint): TimedPrice => ({ price, atMs: atSeconds * second })

test('the first reading is accepted', (t) => {
  t.deepEqual(after([0, 100n]), { accepted: reading(0, 100n), suspect: undefined })
})

test('a reading that differs by exactly 20 % is accepted, one unit more is suspect', (t) => {
  const table: [price: bigint, accepted: boolean][] = [
    [1000n, true],
    [1200n, true],
    [1201n, false],
    [800n, true],
    [799n, false],
    [100_000n, false],
    [1n, false],
  ]
  for (const [price, accepted] of table) {
    const expected = accepted
      ? { accepted: reading(15, price), suspect: undefined }
      : { accepted: reading(0, 1000n), suspect: reading(15, price) }
    t.deepEqual(after([0, 1000n], [15, price]), expected, String(price))
  }
})

test('a jump is accepted when a second reading, 15 s later, agrees', (t) => {
  t.deepEqual(after([0, 100n], [15, 200n], [30, 210n]), { accepted: reading(30, 210n), suspect: undefined })
})

test('a second reading within 15 s changes nothing and does not restart the wait', (t) => {
  const waiting = { accepted: reading(0, 100n), suspect: reading(15, 200n) }
  t.deepEqual(after([0, 100n], [15, 200n], [29.999, 200n]), waiting)
  t.deepEqual(after([0, 100n], [15, 200n], [20, 200n], [29, 200n], [30, 200n]).accepted, reading(30, 200n))
})

test('a second reading that disagrees becomes the suspect, and its wait starts', (t) => {
  t.deepEqual(after([0, 100n], [15, 200n], [30, 300n]), {
    accepted: reading(0, 100n),
    suspect: reading(30, 300n),
  })
  t.deepEqual(after([0, 100n], [15, 200n], [30, 300n], [44, 300n]).suspect, reading(30, 300n))
  t.deepEqual(after([0, 100n], [15, 200n], [30, 300n], [45, 300n]).accepted, reading(45, 300n))
})

test('a reading at the old price clears the suspect', (t) => {
  t.deepEqual(after([0, 100n], [15, 9000n], [16, 101n]), { accepted: reading(16, 101n), suspect: undefined })
})

test('a reading is not compared with an accepted price of five minutes ago', (t) => {
  t.deepEqual(after([0, 100n], [299.999, 900n]).accepted, reading(0, 100n))
  t.deepEqual(after([0, 100n], [300, 900n]), { accepted: reading(300, 900n), suspect: undefined })
})

test('a slow rise is accepted step by step', (t) => {
  t.deepEqual(after([0, 100n], [15, 120n], [30, 144n], [45, 172n]).accepted, reading(45, 172n))
})

test('a single reading never changes a recent price by more than 20 %', (t) => {
  const steps = fc.array(
    fc.record({ waitMs: fc.integer({ min: 0, max: 2 * minute }), price: fc.bigInt({ min: 1n, max: 1000n }) }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(steps, (readings) => {
      let state = noPrice
      let atMs = 0
      const history: TimedPrice[] = []
      for (const { waitMs, price } of readings) {
        atMs += waitMs
        const before = state.accepted
        state = checkPriceReading(state, { price, atMs }, jumpPercent)
        history.push({ price, atMs })
        if (before === undefined || state.accepted === before || atMs - before.atMs >= 5 * minute) continue
        const agreed = history.slice(0, -1).filter((earlier) => atMs - earlier.atMs >= 15 * second)
        const near = (one: TimedPrice): boolean => {
          const distance = one.price > price ? one.price - price : price - one.price
          return distance * 5n <= one.price
        }
        t.true(near(before) || agreed.some(near), `${before.price} became ${price}`)
      }
    }),
    seededRuns(t),
  )
})

test('a price of zero is never accepted, first or later, and the next good one is', (t) => {
  t.is(after([0, 0n]).accepted, undefined)
  t.deepEqual(after([0, 100n], [15, 0n]), { accepted: reading(0, 100n), suspect: reading(15, 0n) })
  t.is(after([0, 100n], [15, 0n], [30, 0n], [400, 0n]).accepted?.price, 100n)
  t.deepEqual(after([0, 100n], [15, 0n], [30, 101n]), { accepted: reading(30, 101n), suspect: undefined })
})
