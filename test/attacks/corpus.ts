import type { ExecutionContext } from 'ava'
import { associatedAccount } from '../../scripts/sandbox/chain/faucet.js'
import type { LedgerRecord } from '../../scripts/sandbox/chain/ledger.js'
import { solMint } from '../../src/kernel/tokens.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { createVerifierBatch } from '../../src/tips/verify/verify-tips.js'
import { lookAgain } from '../helpers/make/paid-intents.js'
import { recordTip } from '../helpers/make/tips.js'
import type { World } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { type Dice, diceFor } from './dice.js'
import { type Scene, usdc } from './scene.js'

/** What somebody did on the chain, what was then claimed, and what must come of it. */
export interface Move {
  readonly signature: string
  /** Bodies of POST /chain/tips/create, in order; signature and amount are filled in where they are not given. */
  readonly claims: readonly Readonly<Record<string, unknown>>[]
  /** The tip it is in truth; absent: none. Several recipients: to one of them. */
  readonly tip?: {
    readonly recipients: readonly string[]
    readonly mint: string
    readonly message?: string | null
  }
  /** Nothing is known, or can be read, that would allow a verdict: it waits. */
  readonly waits?: boolean
}

export type Play = (scene: Scene, dice: Dice, variant: number) => Move | Promise<Move>

export const variants = 50
const variantMs = 6000

/** Plays every variant of an attack and checks what the service made of each. */
export async function playAll(t: ExecutionContext, scene: Scene, play: Play): Promise<void> {
  t.timeout(variants * variantMs)
  const dice = diceFor(t)
  const moves: Move[] = []
  for (let variant = 0; variant < variants; variant++) moves.push(await play(scene, dice, variant))
  for (const { signature, claims } of moves)
    for (const claim of claims)
      await recordTip(scene.world, { txSignature: signature, tipAmount: 1_000_000, ...claim })
  await judge(scene.world, moves)
  for (const [variant, move] of moves.entries()) await check(t, scene.world, move, `variant ${variant}`)
  await checkCredits(t, scene.world)
}

/** Runs the verifier until nothing changes any more: judged, final, or still waiting after a few looks. */
async function judge(world: World, moves: readonly Move[]): Promise<void> {
  const batch = createVerifierBatch(world.services)
  const ids = moves.filter(({ waits }) => !waits).map(({ signature }) => signature)
  await until(
    'all are judged and final',
    async () => {
      await lookAgain(world)
      await batch().catch(() => undefined)
      return (await world.db('tips').whereIn('id', ids).whereNotNull('due_at')).length === 0
    },
    (variants * variantMs) / 2,
  )
  for (let look = 0; look < 3; look++) {
    await lookAgain(world)
    await batch().catch(() => undefined)
  }
}

async function check(
  t: ExecutionContext,
  world: World,
  { signature, tip, waits = false }: Move,
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

/** What a wallet gained by the chain's own record, read in the plainest way. */
export function gained({ keys, meta }: LedgerRecord, wallet: string, mint: string): bigint {
  if (mint === solMint) {
    const index = keys.indexOf(wallet)
    return BigInt(meta.postBalances[index] ?? 0) - BigInt(meta.preBalances[index] ?? 0)
  }
  const index = keys.indexOf(associatedAccount(wallet, mint).toBase58())
  const at = (balances: LedgerRecord['meta']['preTokenBalances']): bigint =>
    BigInt(
      balances.find((one) => one.accountIndex === index && one.owner === wallet)?.uiTokenAmount.amount ?? 0,
    )
  return at(meta.postTokenBalances) - at(meta.preTokenBalances)
}

/**
 * No tip is worth more than the chain shows, none stands on a transaction that failed, and creators are credited with
 * the sum of what they received in USDC, to the unit.
 */
async function checkCredits(t: ExecutionContext, world: World): Promise<void> {
  const tips: {
    id: string
    wallet: string
    mint: string
    received_raw: string
    display_raw: string
    user_id: string | null
  }[] = await world
    .db('tips as t')
    .join('parties as p', 'p.id', 't.recipient_party')
    .leftJoin('wallets as w', 'w.public_key', 'p.wallet')
    .where({ 't.status': 'confirmed' })
    .select('t.*', 'p.wallet', 'w.user_id')
  const due = new Map<string, bigint>()
  for (const { id, wallet, mint, received_raw: received, user_id: user } of tips) {
    const record = world.sandbox.chain.ledger.get(id)
    if (record === undefined) return t.fail(`${id} is on no chain`)
    t.is(record.meta.err, null)
    t.is(BigInt(received), gained(record, wallet, mint), id)
    t.true(BigInt(received) > 0n)
    if (mint === usdc.mint && user !== null) due.set(user, (due.get(user) ?? 0n) + BigInt(received))
  }
  const accounts: { user_id: string; balance: bigint }[] = await world
    .db('ledger_accounts')
    .whereNotNull('user_id')
    .groupBy('user_id')
    .select('user_id', world.db.raw('sum(balance)::bigint as balance'))
  for (const { user_id: user, balance } of accounts) t.is(balance, due.get(user) ?? 0n, 'over-credited')
  t.is(accounts.length, due.size)
  t.true((await checkBooks(world.db)).holds)
}
