import test from 'ava'
import fc from 'fast-check'
import { computeCredit, presentCredit, priceFiatTip } from '../../src/fiat/fees.js'
import { seededRuns } from '../helpers/random.js'

/** Naira per dollar in units of 10^-8. */
const rateFrom = (naira: number): bigint => BigInt(Math.round(naira * 1e8))
const rates = [1600, 1587.33, 0.01, 999_999.99].map(rateFrom)
const anyRate = fc.bigInt({ min: 10n ** 6n, max: 10n ** 14n })
const anyCents = fc.bigInt({ min: 1n, max: 1_000_000n })
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

test('for every such amount the naira charge is rounded half up to the kobo', (t) => {
  let wrong = 0
  for (const rate of rates)
    for (let cents = 1n; cents <= 1_000_000n; cents += rate === rates[0] ? 1n : 7n) {
      const { finalCents, chargeKobo } = priceFiatTip(cents, rate, 'net')
      const distance = chargeKobo * 10n ** 8n - finalCents * rate
      if (2n * distance > 10n ** 8n || 2n * distance <= -(10n ** 8n)) wrong += 1
    }
  t.is(wrong, 0)
})

test('a full payment credits the promised amount less the rounding, and never more than its naira are worth', (t) => {
  fc.assert(
    fc.property(anyCents, anyRate, anyBasis, (cents, rate, basis) => {
      const price = priceFiatTip(cents, rate, basis)
      if (price.chargeKobo < 10_000n) return
      const { creditMicro, revenueMicro } = computeCredit(price, rate, basis)
      const promised = price.finalCents * 10_000n
      // Half a kobo is worth so much, and the credit is floored; on the gross basis the fee was rounded by half a cent.
      const lost = 10n ** 12n / rate + 2n + (basis === 'gross' ? 5_000n : 0n)
      t.true(creditMicro <= promised && creditMicro >= promised - lost)
      t.true(revenueMicro >= 0n)
      t.true((creditMicro + revenueMicro) * rate <= price.chargeKobo * 10n ** 12n)
    }),
    seededRuns(t, 5000),
  )
})

test('a charge that the caller gives credits at most the value of its naira and the promised amount', (t) => {
  fc.assert(
    fc.property(
      anyCents,
      anyRate,
      anyBasis,
      fc.bigInt({ min: 10_000n, max: 10n ** 9n }),
      (cents, rate, basis, kobo) => {
        const price = priceFiatTip(cents, rate, basis, kobo)
        const { creditMicro, revenueMicro } = computeCredit(price, rate, basis)
        const view = presentCredit(price, creditMicro)
        t.is(price.chargeKobo, kobo)
        t.true(creditMicro * rate <= kobo * 10n ** 12n)
        t.true(creditMicro <= price.finalCents * 10_000n && revenueMicro >= 0n)
        t.true(view.amountCents >= 1n && view.amountCents <= price.amountCents)
      },
    ),
    seededRuns(t, 5000),
  )
})

test('the documented examples', (t) => {
  const rate = rateFrom(1600)
  t.like(priceFiatTip(1000n, rate, 'net'), { feeCents: 50n, finalCents: 950n, chargeKobo: 1_520_000n })
  t.like(priceFiatTip(1000n, rate, 'gross'), { feeCents: 50n, finalCents: 950n, chargeKobo: 1_600_000n })
  t.deepEqual(computeCredit(priceFiatTip(1000n, rate, 'gross'), rate, 'gross'), {
    creditMicro: 9_500_000n,
    revenueMicro: 500_000n,
  })
  const poor = priceFiatTip(100_000n, rate, 'net', 160_000n)
  t.deepEqual(computeCredit(poor, rate, 'net'), { creditMicro: 1_000_000n, revenueMicro: 0n })
  t.is(presentCredit(poor, 1_000_000n).amountCents, 105n)
})
