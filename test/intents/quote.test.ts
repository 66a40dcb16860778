import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { defaultSettings } from '../../src/creators/settings.js'
import {
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

const funded: TransferAccounts = {
  recipientLamports: 10n ** 9n,
  treasuryLamports: 10n ** 9n,
  treasuryTokenAccount: true,
}

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
