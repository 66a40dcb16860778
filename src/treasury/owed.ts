import type { Knex } from 'knex'
import { type CustodyBook, unboundOf } from '../ledger/custody.js'
import { query } from '../platform/database/database.js'

/**
 * Micro-USDC that the platform owes each creator, and that stay in custody if they are there: the balances, and what withdrawals
 * took that were completed within the last hours, because a bank may send them back. A withdrawal that was credited again is in
 * the balance. Creators to whom nothing is owed are absent.
 */
export async function readOwed(
  db: Knex,
  sweepAfterHours: number,
  userIds: readonly string[] | null = null,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await query<{ userId: string; owed: string }>(db, {
    name: 'treasury.owed',
    text: /* sql */ `
      select user_id as "userId", sum(micro)::text as owed from (
        select user_id, balance as micro from ledger_accounts
        where user_id is not null and currency = 'USDC' and ($1::uuid[] is null or user_id = any($1))
        union all
        select user_id, coalesce(paid_debit_micro, debit_micro) from withdrawals
        where status = 'completed' and recredited_at is null and ($1::uuid[] is null or user_id = any($1))
          and completed_at > clock_timestamp() - $2 * interval '1 hour') as owed
      group by user_id having sum(micro) > 0`,
    values: [userIds, sweepAfterHours],
  })
  return new Map(rows.map(({ userId, owed }) => [userId, BigInt(owed)]))
}

/** What may go to the treasury: what the platform has paid for. */
export function sweepableOf(book: CustodyBook, owed: bigint): bigint {
  const rest = unboundOf(book) - owed
  return rest > 0n ? rest : 0n
}
