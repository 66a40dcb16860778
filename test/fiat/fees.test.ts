import test from 'ava'
import fc from 'fast-check'
import {
  amountsShown,
  type ChargeBasis,
  computeCredit,
  type FiatPrice,
  priceFiatTip,
} from '../../src/fiat/fees.js'
import { seededRuns } from '../helpers/random.js'

/** Naira per dollar in units of 10^-8. */
const rateFrom = (naira: number): bigint => BigInt(Math.round(naira * 1e8))
const rates = [1600, 1587.33, 0.01, 999_999.99].map(rateFrom)
const anyRate = fc.bigInt({ min: 10n ** 6n, max: 10n ** 14n })
const anyCents = fc.bigInt({ min: 1n, max: 1_000_000n })
/** What so many kobo credit at the locked rate. */
const credit = (price: FiatPrice, kobo: bigint, rate: bigint, basis: ChargeBasis) =>
  computeCredit(price, { kobo, rate, lockedRate: rate }, basis)
const anyBasis = fc.constantFrom('net' as const, 'gross' as const)

test('for every amount from 1 cent to 10,000 USD, fee plus net is the amount, and the fee is 5 % rounded to the cent', (t) => {
  let wrong = 0
  for (let cents = 1n; cents <= 1_000_000n; cents++)
    for (const basis of ['net', 'gross'] as const) {
      const { feeCents, finalCents } = priceFiatTip(cents, 160_000_000_000n, basis)
      const exactly = feeCents + finalCents === cents && finalCents > 0n
      // Half up: at most half a cent from the exact fee, and up where it is exactly half.
      const distance = feeCents * 100n - cents * 5n
      if (!(exactly && distance <= 50n && distance > -50n)) wrong += 1
    }
  t.is(wrong, 0)
})

test('for every such amount the naira charge is rounded up to the kobo', (t) => {
  let wrong = 0
  for (const rate of rates)
    for (let cents = 1n; cents <= 1_000_000n; cents += rate === rates[0] ? 1n : 7n) {
      const { finalCents, chargeKobo } = priceFiatTip(cents, rate, 'net')
      const surplus = chargeKobo * 10n ** 8n - finalCents * rate
      if (surplus < 0n || surplus >= 10n ** 8n) wrong += 1
    }
  t.is(wrong, 0)
})

test('who pays exactly the charge gets exactly the promise, and never more than the naira are worth', (t) => {
  fc.assert(
    fc.property(anyCents, anyRate, anyBasis, (cents, rate, basis) => {
      const price = priceFiatTip(cents, rate, basis)
      const { creditMicro, revenueMicro } = credit(price, price.chargeKobo, rate, basis)
      t.is(creditMicro, price.finalCents * 10_000n)
      t.true(revenueMicro >= 0n)
      t.true((creditMicro + revenueMicro) * rate <= price.chargeKobo * 10n ** 12n)
    }),
    seededRuns(t, 5000),
  )
})

test('less kobo, or a higher rate, credits its worth', (t) => {
  fc.assert(
    fc.property(anyCents, anyRate, anyBasis, fc.bigInt(1n, 10_000n), (cents, rate, basis, part) => {
      const price = priceFiatTip(cents, rate, basis)
      const kobo = (price.chargeKobo * part) / 10_000n
      const higher = (rate * 12n) / 10n
      for (const [paid, at] of [
        [kobo, rate],
        [price.chargeKobo, higher],
      ] as const) {
        const { creditMicro, revenueMicro } = computeCredit(
          price,
          { kobo: paid, rate: at, lockedRate: rate },
          basis,
        )
        t.true(creditMicro <= price.finalCents * 10_000n && revenueMicro >= 0n)
        t.true((creditMicro + revenueMicro) * at <= paid * 10n ** 12n)
      }
    }),
    seededRuns(t, 5000),
  )
})

test('of a given charge the worth up to the promise counts in full, and of the rest the platform takes 5 %', (t) => {
  fc.assert(
    fc.property(
      anyCents,
      anyRate,
      anyBasis,
      fc.bigInt({ min: 10_000n, max: 10n ** 9n }),
      (cents, rate, basis, kobo) => {
        const price = priceFiatTip(cents, rate, basis, kobo)
        const paid = credit(price, kobo, rate, basis)
        const { creditMicro, revenueMicro } = paid
        const view = amountsShown(price, paid, kobo)
        t.is(price.chargeKobo, kobo)
        t.true(revenueMicro >= 0n && (creditMicro + revenueMicro) * rate <= kobo * 10n ** 12n)
        // At least 95 % of the worth is the creator's, less the rounding to the micro.
        t.true((creditMicro + 2n) * rate * 100n >= kobo * 10n ** 12n * 95n)
        if (basis === 'net' && creditMicro <= price.finalCents * 10_000n) t.is(revenueMicro, 0n)
        t.true(view.amountCents >= 1n)
      },
    ),
    seededRuns(t, 5000),
  )
})

test('the documented examples', (t) => {
  const rate = rateFrom(1600)
  t.like(priceFiatTip(1000n, rate, 'net'), { feeCents: 50n, finalCents: 950n, chargeKobo: 1_520_000n })
  t.like(priceFiatTip(1000n, rate, 'gross'), { feeCents: 50n, finalCents: 950n, chargeKobo: 1_600_000n })
  t.deepEqual(credit(priceFiatTip(1000n, rate, 'gross'), 1_600_000n, rate, 'gross'), {
    creditMicro: 9_500_000n,
    revenueMicro: 500_000n,
  })
  const poor = priceFiatTip(100_000n, rate, 'net', 160_000n)
  const paid = credit(poor, 160_000n, rate, 'net')
  t.deepEqual(paid, { creditMicro: 1_000_000n, revenueMicro: 0n })
  t.is(amountsShown(poor, paid, 160_000n).amountCents, 105n)
  const rich = credit(priceFiatTip(1000n, rate, 'net', 100_000_000n), 100_000_000n, rate, 'net')
  t.deepEqual(rich, { creditMicro: 594_225_000n, revenueMicro: 30_775_000n })
})
