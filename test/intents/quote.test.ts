import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { defaultSettings } from '../../src/creators/settings.js'
import {
  checkUsdLimits,
  grossAmount,
  parseTipAmount,
  splitFee,
  type TipLimits,
  tipLimitsFor,
} from '../../src/intents/quote.js'
import { DomainError, type ErrorCode } from '../../src/kernel/errors.js'
import { picoUsd } from '../../src/kernel/money.js'
import { type Token, tokenBySymbol } from '../../src/kernel/tokens.js'
import type { TransferAccounts } from '../../src/ports/chain.js'
import { seededRuns } from '../helpers/random.js'

const [sol, usdc, bonk] = ['SOL', 'USDC', 'BONK'].map((symbol) => tokenBySymbol(symbol)) as [
  Token,
  Token,
  Token,
]
const service: TipLimits = { minUsd: 0.01, maxUsd: 10_000 }
const price = (usd: number): bigint => picoUsd(usd) as bigint

function refused(t: ExecutionContext, code: ErrorCode, work: () => unknown, why?: string): void {
  t.is(t.throws(work, { instanceOf: DomainError }, why)?.code, code, why)
}

test('an amount is parsed in units of the token', (t) => {
  t.deepEqual(parseTipAmount(1.5, undefined, sol), { units: 1_500_000_000n })
  t.deepEqual(parseTipAmount(19.99, undefined, usdc), { units: 19_990_000n })
  t.deepEqual(parseTipAmount(0.000_005, undefined, bonk), { units: 1n }, 'half a unit rounds up')
  t.deepEqual(parseTipAmount(2 ** 64 - 2048, undefined, { ...sol, decimals: 0 }), {
    units: 18_446_744_073_709_550_000n,
  })
})

test('an amount in dollars takes precedence, and the other one is ignored', (t) => {
  t.deepEqual(parseTipAmount('rubbish', 5, sol), { usdMicro: 5_000_000n })
  t.deepEqual(parseTipAmount(undefined, 0.01, sol), { usdMicro: 10_000n })
  refused(t, 'invalid_amount', () => parseTipAmount(1, 'rubbish', sol))
})

test('an amount that is not positive is refused in both fields', (t) => {
  const bad = [0, -0, -1, Number.NaN, Number.POSITIVE_INFINITY, 4e-10, '1', '', true, [1], {}, null]
  for (const value of bad) {
    refused(t, 'invalid_amount', () => parseTipAmount(value, undefined, sol), `amount ${String(value)}`)
    refused(t, 'invalid_amount', () => parseTipAmount(1, value, sol), `amountUsd ${String(value)}`)
  }
  refused(t, 'invalid_amount', () => parseTipAmount(undefined, undefined, sol))
})

test('more units than a u64 are refused', (t) => {
  refused(t, 'invalid_amount', () => parseTipAmount(2 ** 64, undefined, { ...sol, decimals: 0 }))
  refused(t, 'invalid_amount', () => parseTipAmount(1e308, undefined, sol))
  refused(t, 'invalid_amount', () => grossAmount(parseTipAmount(1, 1e308, bonk), bonk, 1n, service))
  refused(
    t,
    'invalid_amount',
    () => grossAmount(parseTipAmount(1, 1000, bonk), bonk, 1n, service),
    'within the limits',
  )
})

test('the limits are inclusive, by amount and by dollars', (t) => {
  const table: [amount: number, valid: boolean][] = [
    [0.01, true],
    [0.009_999, false],
    [0.000_001, false],
    [10_000, true],
    [10_000.000_001, false],
    [10_000.01, false],
    [1e15, false],
  ]
  for (const [amount, valid] of table)
    for (const [units, dollars] of [
      [amount, undefined],
      [undefined, amount],
    ]) {
      const work = () => {
        const requested = parseTipAmount(units, dollars, usdc)
        checkUsdLimits(requested, service)
        return grossAmount(requested, usdc, price(1), service)
      }
      if (valid) t.is(work().units, BigInt(amount * 1e6), String(amount))
      else refused(t, 'invalid_amount', work, String(amount))
    }
})

test('a dollar limit can be met exactly at any price', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(sol, usdc, bonk),
      fc.bigInt({ min: 1_000_000n, max: 10n ** 15n }),
      (token, usd) => {
        for (const edge of [0.01, 10_000]) {
          const units = grossAmount(parseTipAmount(undefined, edge, token), token, usd, service).units
          // The nearest unit to the exact quotient.
          const exact = BigInt(edge * 100) * 10n ** BigInt(token.decimals + 10)
          const off = units * usd - exact
          t.true(2n * (off < 0n ? -off : off) <= usd, `${edge} USD at ${usd}`)
        }
      },
    ),
    {
      ...seededRuns(t),
      examples: [
        [sol, 150n * 10n ** 12n],
        [bonk, 20_000_000n],
      ],
    },
  )
})

test('an amount that buys less than one unit of the token is refused', (t) => {
  const dear = price(1e9)
  refused(t, 'invalid_amount', () =>
    grossAmount(parseTipAmount(undefined, 0.01, bonk), { ...bonk, decimals: 0 }, dear, service),
  )
})

test('the value of a tip is in cents', (t) => {
  t.deepEqual(grossAmount(parseTipAmount(0.1, undefined, sol), sol, price(150), service), {
    units: 100_000_000n,
    usdCents: 1500n,
  })
  t.deepEqual(grossAmount(parseTipAmount(undefined, 5, bonk), bonk, price(0.000_02), service), {
    units: 25_000_000_000n,
    usdCents: 500n,
  })
})

test('a token without a price has no limits and cannot be requested in dollars', (t) => {
  t.deepEqual(grossAmount(parseTipAmount(1e9, undefined, bonk), bonk, undefined, service), {
    units: 10n ** 14n,
    usdCents: 0n,
  })
  t.deepEqual(grossAmount(parseTipAmount(0.000_01, undefined, bonk), bonk, undefined, service).units, 1n)
  refused(t, 'no_price', () => grossAmount(parseTipAmount(1, 5, bonk), bonk, undefined, service))
})

test("a creator's limits narrow the service's limits and never widen them", (t) => {
  const table: [min: number | null, max: number | null, expected: TipLimits][] = [
    [null, null, service],
    [1, null, { minUsd: 1, maxUsd: 10_000 }],
    [null, 50, { minUsd: 0.01, maxUsd: 50 }],
    [0.001, 1e6, service],
    [0, 0, { minUsd: 0.01, maxUsd: 0 }],
  ]
  for (const [minTipUsd, maxTipUsd, expected] of table)
    t.deepEqual(tipLimitsFor(service, { ...defaultSettings, minTipUsd, maxTipUsd }), expected)
})

test("a creator's limits are inclusive too", (t) => {
  const bounds = tipLimitsFor(service, { ...defaultSettings, minTipUsd: 1.01, maxTipUsd: 19.99 })
  const work = (amount: number) => () =>
    grossAmount(parseTipAmount(amount, undefined, usdc), usdc, price(1), bounds)
  t.notThrows(work(1.01))
  t.notThrows(work(19.99))
  refused(t, 'invalid_amount', work(1.009_999))
  refused(t, 'invalid_amount', work(19.990_001))
})

const funded: TransferAccounts = {
  recipientLamports: 10n ** 9n,
  treasuryLamports: 10n ** 9n,
  treasuryTokenAccount: true,
}

test('a direct transfer is split into fee and net', (t) => {
  t.deepEqual(splitFee(1_000_000n, 200, usdc, funded), { net: 980_000n, fee: 20_000n, feeLeftOut: false })
  t.deepEqual(splitFee(99n, 200, usdc, funded), { net: 98n, fee: 1n, feeLeftOut: false })
})

test('a fee of zero has no transfer and none is left out', (t) => {
  for (const accounts of [funded, { ...funded, treasuryLamports: 0n, treasuryTokenAccount: false }]) {
    t.deepEqual(splitFee(49n, 200, usdc, accounts), { net: 49n, fee: 0n, feeLeftOut: false })
    t.deepEqual(splitFee(10n ** 9n, 0, sol, accounts), { net: 10n ** 9n, fee: 0n, feeLeftOut: false })
  }
})

test('a fee that could not land is left out, and the creator receives the whole amount', (t) => {
  const noAccount = { ...funded, treasuryTokenAccount: false }
  t.deepEqual(splitFee(1_000_000n, 200, usdc, noAccount), { net: 1_000_000n, fee: 0n, feeLeftOut: true })
  t.false(splitFee(10n ** 9n, 200, sol, noAccount).feeLeftOut, 'SOL needs no token account')
  const empty = { ...funded, treasuryLamports: 0n }
  t.deepEqual(splitFee(10n ** 7n, 200, sol, empty), { net: 10n ** 7n, fee: 0n, feeLeftOut: true })
  t.false(splitFee(1_000_000n, 200, usdc, empty).feeLeftOut, 'a token needs no lamports')
})

test('the fee transfer in SOL lands from exactly the rent exemption', (t) => {
  const gross = 10_000_000n
  const at = (treasuryLamports: bigint) => splitFee(gross, 200, sol, { ...funded, treasuryLamports })
  t.deepEqual(at(690_880n), { net: 9_800_000n, fee: 200_000n, feeLeftOut: false })
  t.deepEqual(at(690_879n), { net: 10_000_000n, fee: 0n, feeLeftOut: true })
})

test('SOL to an empty wallet is accepted from exactly the rent exemption after the fee', (t) => {
  const fresh = { ...funded, recipientLamports: 0n }
  t.is(splitFee(909_061n, 200, sol, fresh).net, 890_880n)
  refused(t, 'amount_below_minimum', () => splitFee(909_060n, 200, sol, fresh))
  t.is(splitFee(890_880n, 200, sol, { ...fresh, treasuryLamports: 0n }).net, 890_880n)
  refused(t, 'amount_below_minimum', () => splitFee(890_879n, 200, sol, { ...fresh, treasuryLamports: 0n }))
  t.is(splitFee(1n, 200, sol, { ...funded, recipientLamports: 890_880n }).net, 1n)
  t.is(splitFee(1n, 200, usdc, fresh).net, 1n, 'a token has no such minimum')
})

test('net and fee add up to the gross amount, and both transfers land', (t) => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 12n })
  const lamports = fc.bigInt({ min: 0n, max: 2_000_000n })
  const accounts = fc.record({
    recipientLamports: lamports,
    treasuryLamports: lamports,
    treasuryTokenAccount: fc.boolean(),
  })
  fc.assert(
    fc.property(
      amount,
      fc.integer({ min: 0, max: 5000 }),
      fc.constantFrom(sol, usdc),
      accounts,
      (gross, bps, token, on) => {
        const amounts = (() => {
          try {
            return splitFee(gross, bps, token, on)
          } catch {
            return undefined
          }
        })()
        if (amounts === undefined) {
          t.is(token, sol)
          return
        }
        t.is(amounts.net + amounts.fee, gross)
        t.true(amounts.net > 0n && amounts.fee >= 0n)
        if (token === sol) {
          t.true(on.recipientLamports + amounts.net >= 890_880n)
          t.true(amounts.fee === 0n || on.treasuryLamports + amounts.fee >= 890_880n)
        } else t.true(amounts.fee === 0n || on.treasuryTokenAccount)
      },
    ),
    seededRuns(t),
  )
})
