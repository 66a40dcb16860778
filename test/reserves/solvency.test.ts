import test from 'ava'
import { exposureOf, koboOf, type Position } from '../../src/reserves/position.js'
import { computeSolvency } from '../../src/reserves/solvency.js'

/** 1,000 naira for a dollar, in units of 10^-8. */
const rate = 1000n * 10n ** 8n
const dollar = 1_000_000n
const kobo = (dollars: bigint) => dollars * 100_000n

/** 100 dollars are owed; 60 are in custody, 15 in a sweep, 5 in the treasury, and naira worth 20 stand for the rest. */
const position: Position = {
  usdc: { custody: 60n * dollar, inTransit: 15n * dollar, treasury: 5n * dollar, receivables: 7n * dollar },
  ngn: { float: kobo(14n), collections: kobo(4n), inTransit: kobo(3n) },
  owed: { available: 80n * dollar, pending: 15n * dollar, held: 5n * dollar, suspense: kobo(1n) },
  providerFees: 0n,
  revenue: { USDC: 0n, NGN: 0n },
  equity: { USDC: 0n, NGN: 0n },
  exchanged: { USDC: 0n, NGN: 0n },
}
const outside = { custodyShort: 0n, treasuryChain: 5n * dollar, floatUnexplained: 0n }
const surplus = (changes: Partial<typeof outside> = {}, at: bigint | undefined = rate) =>
  computeSolvency(position, { ...outside, ...changes }, at).surplus

test('what is there pays everybody, without what creators owe us', (t) => {
  t.is(surplus(), 0n)
  t.is(surplus({ custodyShort: dollar }), -kobo(1n))
  t.is(surplus({ floatUnexplained: -kobo(2n) }), -kobo(2n))
  t.is(surplus({ treasuryChain: 2n * dollar }), -kobo(3n), 'the treasury counts as the chain shows it')
})

test('a sweep that has landed and is still in transit counts once', (t) => {
  t.is(surplus({ treasuryChain: 20n * dollar }), 0n, 'all of it has landed')
  t.is(surplus({ treasuryChain: 12n * dollar }), 0n, 'a part')
  t.is(surplus({ treasuryChain: 21n * dollar }), kobo(1n), 'what is more is ours')
})

test('only what is owed in USDC beyond our USDC depends on the rate', (t) => {
  t.is(surplus({}, rate * 2n), -kobo(20n))
  t.is(surplus({}, rate / 2n), kobo(10n))
  t.is(computeSolvency(position, outside, undefined).surplus, undefined)
  t.deepEqual(exposureOf(position, { usdc: 80n * dollar, naira: kobo(21n) }, rate), {
    micro: 20n * dollar,
    kobo: kobo(20n),
    naira: kobo(20n),
  })
})

test('kobo of micro-USDC are rounded down, also below zero', (t) => {
  t.is(koboOf(dollar, 160_000_000_000n), 160_000n)
  t.is(koboOf(1n, rate), 0n)
  t.is(koboOf(-1n, rate), -1n)
  t.is(koboOf(15n, rate), 1n)
})
