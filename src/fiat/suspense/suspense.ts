import type { Knex } from 'knex'
import { type Entry, platformAccount, transferEntries } from '../../ledger/accounts.js'
import { credit } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'
import { type FiatCredit, worthOf } from '../fees.js'
import type { SuspenseReason } from '../settlement/classify-payment.js'
import { creditEntries } from '../settlement/credit-entries.js'
import { lateRate } from '../settlement/late-rate.js'
import { lockIntent } from '../settlement/lock-intent.js'

/** Naira that wait for an operator. */
export interface SuspenseItem {
  /** The provider's id of the payment. */
  readonly transaction: string
  readonly intentId: string
  readonly kobo: bigint
  readonly reason: SuspenseReason
  readonly paidAt: Date
  readonly resolvedAt: Date | null
  readonly resolution: 'returned' | 'assigned' | null
  readonly resolvedBy: string | null
  readonly note: string | null
}

const columns = /* sql */ `
  s.provider_transaction as transaction, p.intent_id as "intentId", s.kobo, s.reason, p.paid_at as "paidAt",
  s.resolved_at as "resolvedAt", s.resolution, s.resolved_by as "resolvedBy", s.note`

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

/** One that waits, by the provider's id of its payment. */
export async function findSuspense(db: Knex, transaction: string): Promise<SuspenseItem | undefined> {
  const [item] = await query<SuspenseItem>(db, {
    name: 'suspense.find',
    text: /* sql */ `
      select ${columns} from suspense_items s join fiat_payments p using (provider_transaction)
      where provider_transaction = $1 and s.resolved_at is null`,
    values: [transaction],
  })
  return item
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

/** What becomes of an item. `note`: why, for those who ask later; `by`: the operator. */
export interface Resolution {
  readonly as: 'returned' | 'assigned'
  readonly by: string
  readonly note: string
}

/**
 * Takes an item out of the books, in the caller's transaction: `returned`, its money went back to the payer through
 * the provider; `assigned`, its worth goes to the creator it was meant for. The tip's own state stays as it is.
 * Undefined when it does not wait (any more).
 */
export async function resolveSuspense(
  trx: Knex,
  transaction: string,
  { as, by, note }: Resolution,
): Promise<SuspenseItem | undefined> {
  const [item] = await query<SuspenseItem>(trx, {
    name: 'suspense.resolve',
    text: /* sql */ `
      update suspense_items s set resolved_at = clock_timestamp(), resolution = $2, resolved_by = $3, note = $4
      from fiat_payments p
      where s.provider_transaction = $1 and s.resolved_at is null and p.provider_transaction = s.provider_transaction
      returning ${columns}`,
    values: [transaction, as, by, note],
  })
  if (item === undefined) return undefined
  const entries = as === 'returned' ? returnEntries(item) : assignEntries(item, await assignmentOf(trx, item))
  await credit(trx, { key: `fiatpay:${transaction}:${as}`, ref: item.intentId, entries })
  return item
}

/** Whom an item would go to, and what it is worth to them and to the platform. */
export interface Assignment extends FiatCredit {
  readonly userId: string
  readonly creatorName: string
}

/** Values an item for its creator as late money: at the rate that gives less, less the fee on the gross basis. */
export async function assignmentOf(
  db: Knex,
  { intentId, kobo }: Pick<SuspenseItem, 'intentId' | 'kobo'>,
): Promise<Assignment> {
  const intent = await lockIntent(db, intentId)
  const { value } = await lateRate(db, intent)
  const { userId, creatorName } = intent
  return { userId, creatorName, ...worthOf(kobo, value, intent.basis) }
}

function returnEntries({ kobo }: SuspenseItem): Entry[] {
  return transferEntries(
    kobo,
    platformAccount('suspense', 'NGN'),
    platformAccount('provider_clearing', 'NGN'),
  )
}

function assignEntries({ kobo }: SuspenseItem, { userId, ...worth }: Assignment): Entry[] {
  const naira = transferEntries(kobo, platformAccount('suspense', 'NGN'), platformAccount('fx', 'NGN'))
  return [...naira, ...creditEntries(userId, worth)]
}
