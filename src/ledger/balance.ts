import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import type { Currency, UserAccountKind } from './accounts.js'

/** Base units. */
export type Balance = Readonly<Record<UserAccountKind, bigint>>

/** A user's balances in one currency. An account that was never used has zero. */
export async function readBalance(db: Knex, userId: string, currency: Currency): Promise<Balance> {
  const rows = await query<{ kind: UserAccountKind; balance: bigint }>(db, {
    name: 'ledger.balance',
    text: 'select kind, balance from ledger_accounts where user_id = $1 and currency = $2',
    values: [userId, currency],
  })
  const of = (kind: UserAccountKind) => rows.find((row) => row.kind === kind)?.balance ?? 0n
  return { available: of('available'), pending: of('pending'), held: of('held') }
}

interface AccountBalance {
  readonly kind: UserAccountKind
  readonly currency: Currency
  readonly balance: bigint
}

/** A user's balances in every currency. Nothing is posted to these accounts until the transaction ends. */
export async function lockBalances(trx: Knex, userId: string): Promise<AccountBalance[]> {
  return query(trx, {
    name: 'ledger.lock-balances',
    text: /* sql */ `
      select kind, currency, balance from ledger_accounts where user_id = $1 order by id for no key update`,
    values: [userId],
  })
}

/** As `lockBalances`, for several users. One statement, in the order of the accounts' ids, as every posting locks them. */
export async function lockBalancesOf(trx: Knex.Transaction, userIds: readonly string[]): Promise<void> {
  await query(trx, {
    name: 'ledger.lock-balances-of',
    text: 'select 1 from ledger_accounts where user_id = any($1::uuid[]) order by id for no key update',
    values: [userIds],
  })
}
