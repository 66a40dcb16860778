import type { ExecutionContext } from 'ava'
import { associatedAccount } from '../../scripts/sandbox/chain/faucet.js'
import type { LedgerRecord } from '../../scripts/sandbox/chain/ledger.js'
import { solMint } from '../../src/kernel/tokens.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { makeTipsDue } from '../helpers/make/intents.js'
import { recordTip } from '../helpers/make/tips.js'
import { seededRandom, seededRuns } from '../helpers/random.js'
import { as } from '../helpers/servers/roles.js'
import type { World } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { type AttackSetup, usdc } from './setup.js'

/** One variant of an attack: a transaction, the claims about it, and the expected tip. */
export interface AttackCase {
  readonly signature: string
  /** Bodies of POST /chain/tips/create, in order. Signature and amount have defaults. */
  readonly claims: readonly Readonly<Record<string, unknown>>[]
  /** The expected tip, to one of the recipients. Undefined: the transaction is not a tip. */
  readonly tip?: {
    readonly recipients: readonly string[]
    readonly mint: string
    readonly message?: string | null
  }
  /** The chain gives no usable facts, so the tip stays due without an outcome. */
  readonly waits?: boolean
}

export type Attack = (
  setup: AttackSetup,
  random: RandomSource,
  variant: number,
) => AttackCase | Promise<AttackCase>

/** Ten meet each lie and trick that is taken in turn. */
export const variants = process.env['TEST_RUNS'] === 'all' ? 25 : 10
const attackMs = 150_000
const [confirmedSlots, finalSlots] = [2, 10]

/** Runs all variants of an attack and checks the result of each. */
export async function runAttack(t: ExecutionContext, setup: AttackSetup, attack: Attack): Promise<void> {
  t.timeout(attackMs)
  const random = createRandomSource(t)
  const cases: AttackCase[] = []
  for (let variant = 0; variant < variants; variant++) cases.push(await attack(setup, random, variant))
  for (const { signature, claims } of cases)
    for (const claim of claims)
      await recordTip(setup.world, { txSignature: signature, tipAmount: 1_000_000, ...claim })
  await verifyAll(setup.world, cases)
  for (const [variant, attackCase] of cases.entries())
    await check(t, setup.world, attackCase, `variant ${variant}`)
  await checkCredits(t, setup.world)
}

/** Runs the verifier until every case is decided and final. Cases that wait are checked a few times more. */
async function verifyAll(world: World, cases: readonly AttackCase[]): Promise<void> {
  const { chain } = world.sandbox
  const batch = createVerifierBatch(as('verifier', world.services))
  // What is final after the first look was only confirmed at it.
  chain.advance(confirmedSlots)
  await makeTipsDue(world)
  await batch().catch(() => undefined)
  chain.advance(finalSlots)
  const ids = cases.filter(({ waits }) => !waits).map(({ signature }) => signature)
  await until(
    'all are decided and final',
    async () => {
      await makeTipsDue(world)
      await batch().catch(() => undefined)
      return (await world.db('tips').whereIn('id', ids).whereNotNull('due_at')).length === 0
    },
    attackMs / 2,
  )
  for (let check = 0; check < 3; check++) {
    await makeTipsDue(world)
    await batch().catch(() => undefined)
  }
}

async function check(
  t: ExecutionContext,
  world: World,
  { signature, tip, waits = false }: AttackCase,
  what: string,
) {
  const row = await world
    .db('tips as t')
    .leftJoin('parties as p', 'p.id', 't.recipient_party')
    .where({ 't.id': signature })
    .first('t.*', 'p.wallet')
  if (tip === undefined) {
    t.is(row.status, 'pending', `${what}: a false confirmation`)
    t.is(row.outcome === null, waits, `${what}: ${row.outcome}`)
    return
  }
  t.is(row.status, 'confirmed', `${what}: not confirmed, ${row.outcome}`)
  t.true(tip.recipients.includes(row.wallet), `${what}: ${row.wallet}`)
  t.is(row.mint, tip.mint, what)
  if (tip.message !== undefined) t.is(row.message, tip.message, what)
}

/** The gain of a wallet, read directly from the chain's record. */
export function balanceGain({ keys, meta }: LedgerRecord, wallet: string, mint: string): bigint {
  if (mint === solMint) {
    // Wrapped SOL in the associated account is SOL.
    const indexes = [wallet, associatedAccount(wallet, mint).toBase58()].map((one) => keys.indexOf(one))
    const changes = indexes.map(
      (index) => BigInt(meta.postBalances[index] ?? 0) - BigInt(meta.preBalances[index] ?? 0),
    )
    return changes.reduce((sum, one) => sum + one)
  }
  const index = keys.indexOf(associatedAccount(wallet, mint).toBase58())
  const at = (balances: LedgerRecord['meta']['preTokenBalances']): bigint =>
    BigInt(
      balances.find((one) => one.accountIndex === index && one.owner === wallet)?.uiTokenAmount.amount ?? 0,
    )
  return at(meta.postTokenBalances) - at(meta.preTokenBalances)
}

/**
 * Checks all confirmed tips: the amount equals the gain on the chain, the transaction succeeded, and the credit of each
 * creator is exactly the sum of the USDC that these transactions brought them.
 */
async function checkCredits(t: ExecutionContext, world: World): Promise<void> {
  const tips: {
    id: string
    main_id: string | null
    wallet: string
    mint: string
    received_raw: string
    display_raw: string
  }[] = await world
    .db('tips as t')
    .join('parties as p', 'p.id', 't.recipient_party')
    .where({ 't.status': 'confirmed' })
    .select('t.*', 'p.wallet')
  const wallets = await world.db('wallets').whereNotNull('public_key').select('public_key', 'user_id')
  const owners = new Map<string, string>(wallets.map((row) => [row.public_key, row.user_id]))
  const due = new Map<string, bigint>()
  const addGains = ({ meta, ...rest }: LedgerRecord): void => {
    t.is(meta.err, null)
    for (const paid of new Set(meta.postTokenBalances.map(({ owner }) => owner ?? ''))) {
      const user = owners.get(paid)
      const gain = balanceGain({ meta, ...rest }, paid, usdc.mint)
      if (user === undefined) continue
      t.true(gain >= 0n, 'a debited custody wallet')
      if (gain > 0n) due.set(user, (due.get(user) ?? 0n) + gain)
    }
  }
  for (const { id, main_id: mainId, wallet, mint, received_raw: received } of tips) {
    const record = world.sandbox.chain.ledger.get(mainId ?? id)
    if (record === undefined) return t.fail(`${id} is on no chain`)
    t.is(BigInt(received), balanceGain(record, wallet, mint), id)
    t.true(BigInt(received) > 0n)
    if (mainId === null) addGains(record)
  }
  // Transactions that are no tips and were credited.
  const others: { id: string }[] = await world
    .db('tips')
    .where({ status: 'pending' })
    .whereNotNull('further_credits')
    .select('id')
  for (const { id } of others) addGains(world.sandbox.chain.ledger.get(id) as LedgerRecord)
  const accounts: { user_id: string; balance: bigint }[] = await world
    .db('ledger_accounts')
    .whereNotNull('user_id')
    .groupBy('user_id')
    .select('user_id', world.db.raw('sum(balance)::bigint as balance'))
  for (const { user_id: user, balance } of accounts) t.is(balance, due.get(user) ?? 0n, 'over-credited')
  t.is(accounts.length, due.size)
  t.true((await checkBooks(world.db)).holds)
}

/** Random choices that a seed repeats. */
export interface RandomSource {
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number
  pick<T>(from: readonly T[]): T
}

/** The random choices of the seed that the test prints. TEST_SEED repeats them. */
export function createRandomSource(t: ExecutionContext): RandomSource {
  const next = seededRandom(seededRuns(t).seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  return { below, pick: (from) => from[below(from.length)] as (typeof from)[number] }
}
