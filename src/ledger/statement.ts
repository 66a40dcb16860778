import { pageOf } from '../http/paging.js'
import { queryInIndexOrder } from '../platform/database/index-order.js'
import type { Reads } from '../platform/database/read-pool.js'
import type { Currency, UserAccountKind } from './accounts.js'
import type { TransferKind } from './post-statement.js'

/** One entry on one of a user's accounts, in base units. */
export interface StatementLine {
  /** Later entries of an account have greater ids. */
  readonly id: bigint
  readonly account: UserAccountKind
  readonly kind: TransferKind
  readonly ref: string
  readonly amount: bigint
  readonly balanceAfter: bigint
  readonly createdAt: Date
  /** Card money that became pending: when it becomes available. */
  readonly availableAt: Date | null
}

export interface StatementPage {
  /** Only lines older than this one. Undefined: from the newest. */
  readonly before: bigint | undefined
  readonly limit: number
}

export interface Statement {
  readonly lines: readonly StatementLine[]
  /** The `before` of the next page. Undefined on the last page. */
  readonly next: bigint | undefined
}

/**
 * A user's entries in one currency, newest first. Each account is read by its own index up to the limit, so the length of
 * the history does not matter. The transfers of a page are near each other, so one scan fetches them. The query reads one line
 * more than the page, to know whether there is a next page.
 */
export async function readStatement(
  reads: Reads,
  userId: string,
  currency: Currency,
  { before, limit }: StatementPage,
): Promise<Statement> {
  const statement = {
    name: 'ledger.statement',
    text: /* sql */ `
      with page as materialized (
        select e.*, a.kind as account from ledger_accounts a
        cross join lateral (
          select * from ledger_entries where account_id = a.id and id < coalesce($3, 9223372036854775807)
          order by id desc limit $4) e
        where a.user_id = $1 and a.currency = $2
        order by e.id desc limit $4
      ), transfers as materialized (
        select * from ledger_transfers where id = any(array(select transfer_id from page)))
      select p.id, p.account, t.kind, t.ref, p.amount, p.balance_after as "balanceAfter", t.created_at as "createdAt",
        case when p.account = 'pending' then c.available_at end as "availableAt"
      from page p join transfers t on t.id = p.transfer_id left join card_reserves c on c.transfer_id = t.id
      order by p.id desc`,
    values: [userId, currency, before ?? null, limit + 1],
  }
  const rows = await reads((db) => queryInIndexOrder<StatementLine>(db, statement))
  const { page, last } = pageOf(rows, limit)
  return { lines: page, next: last?.id }
}
