import test from 'ava'
import fc from 'fast-check'
import { priceWithdrawal } from '../../src/withdrawals/price-withdrawal.js'

const fee = { leastFeeNgn: 50, feeBps: 100 }
const rate = 1600n * 10n ** 8n

test('the value of a withdrawal in USDC is rounded half up to the kobo, and the fee is one per cent', (t) => {
  t.deepEqual(priceWithdrawal({ currency: 'USDC', micro: 10_000_000n }, rate, fee), {
    debitMicro: 10_000_000n,
    grossKobo: 1_600_000n,
    feeKobo: 16_000n,
    netKobo: 1_584_000n,
  })
  // 0.000003 USD at NGN 1,600 is 0.48 kobo; 0.000004 is 0.64.
  t.is(priceWithdrawal({ currency: 'USDC', micro: 3n }, rate, fee).grossKobo, 0n)
  t.is(priceWithdrawal({ currency: 'USDC', micro: 4n }, rate, fee).grossKobo, 1n)
})

test('the fee is NGN 50 up to a gross of NGN 5,000', (t) => {
  const feeOf = (kobo: bigint) => priceWithdrawal({ currency: 'NGN', kobo }, rate, fee).feeKobo
  t.deepEqual([1n, 500_000n, 500_049n, 500_050n, 500_100n].map(feeOf), [5000n, 5000n, 5000n, 5001n, 5001n])
})

test('a withdrawal in NGN debits at least its value, and less than one micro-USDC more', (t) => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 15n), fc.bigInt(1n, 10n ** 14n), (kobo, value) => {
      const { debitMicro, grossKobo, feeKobo, netKobo } = priceWithdrawal(
        { currency: 'NGN', kobo },
        value,
        fee,
      )
      const scale = 10n ** 12n
      return (
        grossKobo === kobo &&
        debitMicro * value >= kobo * scale &&
        (debitMicro - 1n) * value < kobo * scale &&
        feeKobo + netKobo === grossKobo
      )
    }),
  )
  t.pass()
})
