import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { packetBytes } from '../../ports/custody-chain.js'
import type { Services } from '../../services.js'
import type { CustodyView } from './custody-overview.js'
import { openSweeps } from './lifecycle.js'

export type PlannedPart = Pick<CustodyView, 'userId' | 'wallet'> & { readonly amount: bigint }

/** A signature costs the payer 5,000 lamports. Less than a cent is not worth it. */
const leastMicro = 10_000n

/** The parts of what may be swept, the largest first. */
export function partsOf(views: readonly CustodyView[]): PlannedPart[] {
  return views
    .filter(({ sweepable }) => sweepable >= leastMicro)
    .sort((a, b) => Number(b.sweepable - a.sweepable))
    .map(({ userId, wallet, sweepable }) => ({ userId, wallet, amount: sweepable }))
}

/** An address with the length of a blockhash. The size of a message does not depend on its value. */
const anyBlockhash = '11111111111111111111111111111111'

/** Groups parts so that each group fits into one transaction. */
export function groupParts(
  { custodyChain, config }: Pick<Services, 'custodyChain' | 'config'>,
  payer: string,
  parts: readonly PlannedPart[],
): PlannedPart[][] {
  const to = config.tips.treasuryWallet
  const sizeOf = (group: readonly PlannedPart[]): number => {
    const payments = group.map(({ wallet, amount }) => ({
      from: wallet,
      to,
      mint: usdc.mint,
      decimals: 6,
      amount,
    }))
    return custodyChain.sizeOf(
      custodyChain.buildMessage({ payer, blockhash: anyBlockhash, opensAccounts: false, payments }),
    )
  }
  const groups: PlannedPart[][] = []
  for (const part of parts) {
    const last = groups.at(-1)
    if (last !== undefined && sizeOf([...last, part]) <= packetBytes) last.push(part)
    else groups.push([part])
  }
  return groups
}

/**
 * Stores a sweep for the custodian to sign, in the caller's transaction. Leaves out creators of whom another sweep is under way.
 * Undefined when none is left. The custodian checks the amounts again.
 */
export async function planSweep(
  { trx, wake }: Pick<UnitOfWork, 'trx' | 'wake'>,
  { config }: Pick<Services, 'config'>,
  {
    payer,
    actor,
    parts,
  }: { readonly payer: string; readonly actor: string; readonly parts: readonly PlannedPart[] },
): Promise<{ readonly id: string; readonly parts: readonly PlannedPart[] } | undefined> {
  // Two people plan one after the other.
  await trx.raw(`select pg_advisory_xact_lock(hashtextextended('plan-sweeps', 0))`)
  const busy = await creatorsUnderWay(
    trx,
    parts.map(({ userId }) => userId),
  )
  const free = parts.filter(({ userId }) => !busy.has(userId))
  if (free.length === 0) return undefined
  const [row] = await query<{ id: string }>(trx, {
    name: 'sweeps.plan',
    text: 'insert into sweeps (payer, mint, treasury, planned_by) values ($1, $2, $3, $4) returning id',
    values: [payer, usdc.mint, config.tips.treasuryWallet, actor],
  })
  if (row === undefined) throw new Error('the sweep was not stored')
  await write(trx, {
    name: 'sweeps.plan-parts',
    text: /* sql */ `
      insert into sweep_parts (sweep_id, user_id, amount)
      select $1, user_id, amount from unnest($2::uuid[], $3::numeric[]) as p(user_id, amount)`,
    values: [row.id, free.map(({ userId }) => userId), free.map(({ amount }) => String(amount))],
  })
  wake('custodian')
  return { id: row.id, parts: free }
}

async function creatorsUnderWay(db: Knex, userIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await query<{ userId: string }>(db, {
    name: 'sweeps.under-way',
    text: /* sql */ `
      select p.user_id as "userId" from sweep_parts p join sweeps s on s.id = p.sweep_id
      where p.user_id = any($1::uuid[]) and s.state in (${openSweeps})`,
    values: [userIds],
  })
  return new Set(rows.map(({ userId }) => userId))
}
