import test from 'ava'
import fc from 'fast-check'
import {
  exceedsBalance,
  parseAmount,
  priceRelease,
  priceWithdrawal,
} from '../../src/withdrawals/price-withdrawal.js'

const fee = { leastFeeNgn: 50, feeBps: 100 }
const rate = 1600n * 10n ** 8n

const usdc = (micro: bigint) => ({ currency: 'USDC', micro, exactPico: micro * 10n ** 6n }) as const

test('the value of a withdrawal in USDC is rounded down to the kobo, and the fee is one per cent', (t) => {
  t.deepEqual(priceWithdrawal(usdc(10_000_000n), rate, fee), {
    debitMicro: 10_000_000n,
    grossKobo: 1_600_000n,
    feeKobo: 16_000n,
    netKobo: 1_584_000n,
  })
  // 0.000006 USD at NGN 1,600 is 0.96 kobo; 0.000007 is 1.12.
  t.is(priceWithdrawal(usdc(6n), rate, fee).grossKobo, 0n)
  t.is(priceWithdrawal(usdc(7n), rate, fee).grossKobo, 1n)
})

test('an amount in USDC is compared exactly with the balance, and then rounded down', (t) => {
  const parsed = (value: number) => {
    const amount = parseAmount(value, undefined)
    if (amount?.currency !== 'USDC') throw new Error(`${value} is not an amount`)
    return [amount.micro, exceedsBalance(amount, 9_500_000n)] as const
  }
  t.deepEqual(parsed(9.5), [9_500_000n, false])
  t.deepEqual(parsed(9.500_000_1), [9_500_000n, true])
  t.deepEqual(parsed(9.500_000_001), [9_500_000n, false])
  t.deepEqual(parsed(9.499_999_9), [9_499_999n, false])
  t.deepEqual(parsed(0.7 + 0.1), [800_000n, false])
  t.is(parseAmount(0.000_000_9, undefined), undefined)
  t.deepEqual(parseAmount(undefined, 1000.019), { currency: 'NGN', kobo: 100_001n })
})

test('a release never pays more than was promised, and computes the fee anew', (t) => {
  const held = priceWithdrawal(usdc(200_000_000n), rate, fee)
  for (const same of [rate, rate + 1n, 2n * rate]) t.is(priceRelease(held, same, fee), undefined)
  t.deepEqual(priceRelease(held, 1500n * 10n ** 8n, fee), {
    grossKobo: 30_000_000n,
    feeKobo: 300_000n,
    netKobo: 29_700_000n,
  })
  const lowered = { leastFeeNgn: 0, feeBps: 0 }
  t.is(priceRelease(held, (rate * 995n) / 1000n, lowered), undefined, 'a fee that was lowered since')
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
