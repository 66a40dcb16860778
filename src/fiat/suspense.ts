import type { Knex } from 'knex'
import { move, platformAccount } from '../ledger/accounts.js'
import { credit } from '../ledger/transfers.js'
import { query } from '../platform/db.js'
import type { SuspenseReason } from './judge-payment.js'

/** Naira that wait for an operator. */
export interface SuspenseItem {
  /** The provider's id of the payment. */
  readonly transaction: string
  readonly intentId: string
  readonly kobo: bigint
  readonly reason: SuspenseReason
  readonly paidAt: Date
  readonly resolvedAt: Date | null
  readonly resolvedBy: string | null
  readonly note: string | null
}

const columns = /* sql */ `
  s.provider_transaction as transaction, p.intent_id as "intentId", s.kobo, s.reason, p.paid_at as "paidAt",
  s.resolved_at as "resolvedAt", s.resolved_by as "resolvedBy", s.note`

/** What waits, oldest first; with `all` also what is resolved. */
export function listSuspense(db: Knex, all: boolean, most: number): Promise<SuspenseItem[]> {
  return query<SuspenseItem>(db, {
    name: 'suspense.list',
    text: /* sql */ `
      select ${columns} from suspense_items s join fiat_payments p using (provider_transaction)
      where $1 or s.resolved_at is null order by s.created_at limit $2`,
    values: [all, most],
  })
}

/** How much waits by the items, and how much the ledger says is there: the two must be the same. */
export async function suspenseSums(db: Knex): Promise<{ readonly items: bigint; readonly ledger: bigint }> {
  const [row] = await query<{ items: bigint; ledger: bigint }>(db, {
    name: 'suspense.sums',
    text: /* sql */ `
      select (select coalesce(sum(kobo), 0)::bigint from suspense_items where resolved_at is null) as items,
        (select coalesce(sum(e.amount), 0)::bigint from ledger_accounts a join ledger_entries e on e.account_id = a.id
         where a.user_id is null and a.kind = 'suspense' and a.currency = 'NGN') as ledger`,
    values: [],
  })
  return row ?? { items: 0n, ledger: 0n }
}

/**
 * Notes that the money of an item went back to its payer through the provider, and takes it out of the books; in the
 * caller's transaction. Undefined when it does not wait (any more).
 */
export async function resolveSuspense(
  trx: Knex,
  transaction: string,
  by: string,
  note: string,
): Promise<SuspenseItem | undefined> {
  const [item] = await query<SuspenseItem>(trx, {
    name: 'suspense.resolve',
    text: /* sql */ `
      update suspense_items s set resolved_at = clock_timestamp(), resolved_by = $2, note = $3
      from fiat_payments p
      where s.provider_transaction = $1 and s.resolved_at is null and p.provider_transaction = s.provider_transaction
      returning ${columns}`,
    values: [transaction, by, note],
  })
  if (item === undefined) return undefined
  const legs = move(
    item.kobo,
    platformAccount('suspense', 'NGN'),
    platformAccount('provider_clearing', 'NGN'),
  )
  await credit(trx, { key: `fiatpay:${transaction}:returned`, ref: item.intentId, legs })
  return item
}
