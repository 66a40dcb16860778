import type { Knex } from 'knex'
import { type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { type Confirmation, confirmTips } from '../../../src/tips/confirm/confirm-tips.js'
import { as } from '../servers/roles.js'
import type { World } from '../servers/world.js'
import { unusedSignature, unusedWallet } from './supporter.js'

const sol = tokenBySymbol('SOL') as Token
const usdc = tokenBySymbol('USDC') as Token

/** Invents the facts of a tip of this many base units. It is on no chain. */
export function someConfirmation(
  recipient: string,
  {
    units = 1_000_000n,
    token = usdc,
    sender = unusedWallet(),
    message = null,
  }: { units?: bigint; token?: Token; sender?: string; message?: string | null } = {},
): Confirmation {
  const id = unusedSignature()
  const received = (units * 98n) / 100n
  return {
    id,
    claims: [],
    transaction: { slot: 1n, blockTime: new Date() },
    final: true,
    facts: {
      recipient,
      sender,
      token,
      received,
      displayed: units,
      feeFound: true,
      message,
      messageByIntent: false,
      intentId: null,
      underpaidIntentId: null,
      credits: new Map(token === usdc ? [[recipient, received]] : []),
      agreeing: [true],
    },
  }
}

/** Stores tips as pending and not due, so that only the test confirms them. */
export async function storePendingTips(
  { db }: Pick<World, 'db'>,
  confirmations: readonly Confirmation[],
): Promise<void> {
  await db('tips').insert(
    confirmations.map(({ id, facts }) => ({
      id,
      kind: 'chain',
      creator_wallet: facts.recipient,
      sender: facts.sender,
      amount: 1,
      token_symbol: facts.token.symbol,
      claim_hash: Buffer.alloc(32),
      due_at: null,
    })),
  )
}

/** Stores tips as pending and confirms them. */
export async function createConfirmedTips(
  world: World,
  confirmations: readonly Confirmation[],
): Promise<void> {
  await storePendingTips(world, confirmations)
  await confirmTips(as('verifier', world.services), confirmations)
}

/**
 * Records a tip of 0.5 SOL for each wallet (a wallet may occur several times) and confirms them in one batch, as the
 * verifier does. Returns their signatures.
 */
export async function createConfirmedSolTips(
  services: Parameters<typeof confirmTips>[0],
  wallets: readonly string[],
  { sender = unusedWallet(), message = null }: { sender?: string; message?: string | null } = {},
): Promise<string[]> {
  const confirmations = wallets.map((wallet) =>
    someConfirmation(wallet, { units: 500_000_000n, token: sol, sender, message }),
  )
  await storePendingTips(services, confirmations)
  await confirmTips(services, confirmations)
  return confirmations.map(({ id }) => id)
}

/** The `confirmed_at` values (epoch ms) of a wallet's confirmed tips, in order. They are the ids of its stream events. */
export async function confirmedStamps(db: Knex, wallet: string): Promise<number[]> {
  const rows: { confirmed_at: Date }[] = await db('tips as t')
    .join('parties as p', 'p.id', 't.recipient_party')
    .where({ 'p.wallet': wallet, 't.status': 'confirmed' })
    .orderBy('t.confirmed_at')
    .select('t.confirmed_at')
  return rows.map(({ confirmed_at }) => confirmed_at.getTime())
}

/** The hourly sums behind the daily figures that differ from the confirmed tips. Empty when all match. */
export async function differingSums(db: Knex): Promise<unknown[]> {
  const { rows } = await db.raw(/* sql */ `
    with counted as (
      select recipient_party as party_id, date_trunc('hour', recorded_at, 'UTC') as hour, mint, count(*) as count, sum(display_raw) as raw
      from tips where status = 'confirmed' group by 1, 2, 3),
    kept as (select party_id, hour, mint, count, raw from tip_sums where count <> 0 or raw <> 0)
    (select 'missing', * from (table counted except table kept) a) union all (select 'excess', * from (table kept except table counted) b)`)
  return rows
}
