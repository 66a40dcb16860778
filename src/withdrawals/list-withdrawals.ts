import type { Knex } from 'knex'
import { pageOf, timePosition, timePositionFrom } from '../http/paging.js'
import { query } from '../platform/database/database.js'
import { presentPayout } from './present.js'
import type { HistoryInput, PayoutRecord } from './schemas.js'
import { type Withdrawal, withdrawalColumns } from './withdrawal.js'

export interface History {
  readonly payouts: PayoutRecord[]
  /** Position of the next page: the last withdrawal of this one. Undefined on the last page. */
  readonly next: string | undefined
}

/** Where every time is older, any id will do. */
const anyId = '00000000-0000-0000-0000-000000000000'

/** A creator's withdrawals, newest first. One row more than the page tells whether there is a next one. */
export async function listWithdrawals(
  db: Knex,
  userId: string,
  { reference, status, cursor, limit }: HistoryInput,
): Promise<History> {
  const [beforeMs, beforeId] = timePositionFrom(cursor, anyId)
  const rows = await query<Withdrawal & { bankName: string | null }>(db, {
    name: 'payouts.history',
    text: /* sql */ `
      select ${withdrawalColumns}, b.name as "bankName"
      from withdrawals w left join banks b on b.code = w.bank_code
      where w.user_id = $1
        and (w.created_at, w.id) < ('epoch'::timestamptz + $2::float8 * interval '1 ms', $3::uuid)
        and ($4::text is null or w.reference = $4) and ($5::text is null or w.status = $5)
      order by w.created_at desc, w.id desc limit $6`,
    values: [userId, beforeMs, beforeId, reference ?? null, status ?? null, limit + 1],
  })
  const { page, last } = pageOf(rows, limit)
  return { payouts: page.map(presentPayout), next: last && timePosition(last.createdAt, last.id) }
}
