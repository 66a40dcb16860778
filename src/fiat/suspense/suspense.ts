import type { Knex } from 'knex'
import { sqlList } from '../../kernel/state-machine.js'
import { type Entry, platformAccount, transferEntries } from '../../ledger/accounts.js'
import { query, write } from '../../platform/database/database.js'
import { databaseIsKnown } from '../../platform/database/restore-guard.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { addToFiatTip, confirmFiatTip } from '../../tips/fiat-tip.js'
import { amountsShown, type FiatCredit, valueOfKobo } from '../fees.js'
import { assignedKey } from '../gone-payments.js'
import { advanceSuspense, type SuspenseState, undecidedStates } from '../lifecycle.js'
import { creditOrReserve } from '../settlement/card-reserve.js'
import { closeIntent, type LockedIntent, lockIntent } from '../settlement/lock-intent.js'
import { creditEntries, type SuspenseReason } from '../settlement/record-payment.js'
import { readSettleRate } from '../settlement/settle-intent.js'

/** Naira that wait for an operator, or for the creator of the tip that they are too little for. */
export interface SuspenseItem {
  /** The provider's id of the payment. */
  readonly transaction: string
  readonly intentId: string
  readonly kobo: bigint
  readonly reason: SuspenseReason
  readonly paidAt: Date
  /** Paid by card, and pending until then when it is assigned. Null: available at once. */
  readonly availableAt: Date | null
  readonly state: SuspenseState
  /** What the provider said last about a refund. */
  readonly refundAnswer: string | null
  readonly resolvedAt: Date | null
  readonly resolution: 'returned' | 'assigned' | null
  readonly resolvedBy: string | null
  readonly note: string | null
}

const columns = /* sql */ `
  s.provider_transaction as transaction, p.intent_id as "intentId", s.kobo, s.reason, p.paid_at as "paidAt",
  case when p.available_at > clock_timestamp() then p.available_at end as "availableAt",
  s.state, coalesce(s.refund_answer, (select coalesce(o.last_error, 'the provider shows the refund ' || o.provider_id || ' started')
    from refunds o where o.id = s.refund_id and o.ended_at is null)) as "refundAnswer",
  s.resolved_at as "resolvedAt", s.resolution, s.resolved_by as "resolvedBy", s.note`

/** No dispute of the item's payment is under way: it may yet take the money. `s`: the item. */
const undisputed = /* sql */ `not exists (
  select from disputes d where d.provider_transaction = s.provider_transaction and d.state in (${sqlList(undecidedStates)}))`

/** The items that are not resolved, oldest first; with `all` also the resolved ones. */
export function listSuspense(db: Knex, all: boolean, limit: number): Promise<SuspenseItem[]> {
  return query<SuspenseItem>(db, {
    name: 'suspense.list',
    text: /* sql */ `
      select ${columns} from suspense_items s join fiat_payments p using (provider_transaction)
      where $1 or s.resolved_at is null order by s.created_at limit $2`,
    values: [all, limit],
  })
}

/** An item as it was read. A write that depends on it changes nothing when the item has changed since. */
export interface SuspenseVersion {
  readonly transaction: string
  readonly state: SuspenseState
  /** A dispute may take a part of it, and give it back. */
  readonly kobo: bigint
  /** Its newest refund. Null: there was none. */
  readonly refundId: string | null
}

export interface OpenItem extends SuspenseItem, SuspenseVersion {
  /** A dispute may yet take the money, so it is neither assigned nor refunded. */
  readonly isDisputed: boolean
}

/** The unresolved items of an intent, oldest payment first, or the one of a payment, by the provider's id of it. */
export function findOpenItems(db: Knex, id: string): Promise<OpenItem[]> {
  return query<OpenItem>(db, {
    name: 'suspense.find',
    text: /* sql */ `
      select ${columns}, s.refund_id as "refundId", not ${undisputed} as "isDisputed"
      from suspense_items s join fiat_payments p using (provider_transaction)
      where (provider_transaction = $1 or p.intent_id = $1) and s.resolved_at is null order by p.paid_at`,
    values: [id],
  })
}

/** The sum of the waiting items, and the balance of the ledger's suspense account. The two must be equal. */
export async function sumSuspense(db: Knex): Promise<{ readonly items: bigint; readonly ledger: bigint }> {
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

/** How somebody resolves an item. `by`: the operator, or the creator. `note`: the reason. */
export interface SuspenseResolution {
  readonly as: 'returned' | 'assigned'
  readonly by: string
  readonly note: string
}

const resolved = advanceSuspense('resolved')

/**
 * Resolves an item in the caller's transaction. `returned`: the payer has the money back. `assigned`: its value goes to the
 * creator it was meant for and becomes part of the tip. Undefined when the item has changed since it was read, and for an item to
 * assign of which a refund is or may be under way, or whose payment is disputed.
 */
export async function resolveSuspense(
  uow: UnitOfWork,
  { transaction, state, kobo, refundId }: SuspenseVersion,
  { as, by, note }: SuspenseResolution,
): Promise<ResolvedItem | undefined> {
  const { trx } = uow
  const [row] = await query<SuspenseItem & { assignedKey: string }>(trx, {
    name: 'suspense.resolve',
    text: /* sql */ `
      update suspense_items s
      set ${resolved.set}, resolved_at = clock_timestamp(), resolution = $2, resolved_by = $3, note = $4,
        assignments = assignments + case when $2 = 'assigned' then 1 else 0 end
      from fiat_payments p
      where s.provider_transaction = $1 and s.${resolved.from} and (s.state <> 'refunding' or $2 = 'returned')
        and ($2 = 'returned' or ${undisputed})
        and s.state = $5 and s.kobo = $6 and s.refund_id is not distinct from $7
        and p.provider_transaction = s.provider_transaction
      returning ${columns}, ${assignedKey('s.provider_transaction', 's.assignments')} as "assignedKey"`,
    values: [transaction, as, by, note, state, kobo, refundId],
  })
  if (row === undefined) return undefined
  const { assignedKey: key, ...item } = row
  // What a lost dispute took may come back, and be resolved too: each time is a posting.
  const transfer = {
    key: as === 'returned' ? `fiatpay:${transaction}:returned:${item.resolvedAt?.getTime()}` : key,
    ref: item.intentId,
    entries: as === 'returned' ? returnEntries(item) : await assign(uow, item),
  }
  const { id, repeated } = await creditOrReserve(trx, transfer, item.availableAt)
  if (repeated) throw new Error(`payment ${transaction} was resolved before as ${transfer.key}`)
  return { item, transfer: id }
}

interface ResolvedItem {
  readonly item: SuspenseItem
  /** The ledger transfer that took it out of suspense. */
  readonly transfer: bigint
}

const refunding = advanceSuspense('refunding', ['waiting'])

/**
 * Gives an item to a refund in the caller's transaction: from now on nobody assigns it. `by`, `note`: who asked for it, and why.
 * False: it has changed since it was read, or the database waits after a restore.
 */
export async function giveToRefund(
  trx: Knex,
  { transaction, kobo, refundId }: SuspenseVersion,
  newRefundId: string,
  { by, note }: Pick<SuspenseResolution, 'by' | 'note'>,
): Promise<boolean> {
  const rows = await query(trx, {
    name: 'suspense.give-to-refund',
    text: /* sql */ `
      update suspense_items s set ${refunding.set}, refund_by = $4, refund_note = $5, refund_id = $3, refund_answer = null
      where provider_transaction = $1 and ${databaseIsKnown} and ${refunding.from} and kobo = $6
        and refund_id is not distinct from $2 and ${undisputed} returning 1`,
    values: [transaction, refundId, newRefundId, by, note, kobo],
  })
  return rows.length > 0
}

const waiting = advanceSuspense('waiting', ['refunding'])

/**
 * Ends the refund of an item in the caller's transaction. `failure`: why nothing went back; then it waits for an operator again.
 * Otherwise the payer has it, and the ledger transfer is returned.
 */
export async function endSuspenseRefund(
  uow: UnitOfWork,
  { id, transaction, kobo }: { readonly id: string; readonly transaction: string; readonly kobo: bigint },
  failure: string | undefined,
): Promise<bigint | null> {
  const { trx } = uow
  if (failure === undefined) {
    const [order] = await query<Pick<SuspenseResolution, 'by' | 'note'>>(trx, {
      name: 'suspense.refund-order',
      text: 'select refund_by as by, refund_note as note from suspense_items where provider_transaction = $1 and refund_id = $2',
      values: [transaction, id],
    })
    if (order === undefined) throw new Error(`${id} is not the refund of payment ${transaction}`)
    const version = { transaction, state: 'refunding', kobo, refundId: id } as const
    const resolved = await resolveSuspense(uow, version, { as: 'returned', ...order })
    if (resolved === undefined) throw new Error(`payment ${transaction} is not being refunded by ${id}`)
    return resolved.transfer
  }
  await write(trx, {
    name: 'suspense.wait-again',
    text: /* sql */ `
      update suspense_items set ${waiting.set}, refund_answer = left($3, 200)
      where provider_transaction = $1 and ${waiting.from} and refund_id = $2`,
    values: [transaction, id, failure],
  })
  return null
}

async function assign(uow: UnitOfWork, item: SuspenseItem): Promise<Entry[]> {
  const assignment = await valueAssignment(uow.trx, item)
  await addToTip(uow, item.kobo, assignment)
  return assignEntries(item, assignment)
}

/** Values an item like late money: at the rate that gives less, and less the fee on the gross basis. */
export async function valueAssignment(
  db: Knex,
  { intentId, kobo }: Pick<SuspenseItem, 'intentId' | 'kobo'>,
): Promise<Assignment> {
  const intent = await lockIntent(db, intentId)
  const { id: rateId, value } = await readSettleRate(db, intent, 0)
  return { intent, rateId, ...valueOfKobo(kobo, value, intent.basis) }
}

/** The provider has taken this much of an item: a part of it waits on, or it is resolved. The caller posts the entries. */
export async function takeFromSuspense(
  trx: Knex,
  transaction: string,
  kobo: bigint,
  { by, note }: Pick<SuspenseResolution, 'by' | 'note'>,
): Promise<void> {
  if (kobo === 0n) return
  const rows = await query(trx, {
    name: 'suspense.take-part',
    text: /* sql */ `
      with whole as (
        update suspense_items set ${resolved.set}, resolved_at = clock_timestamp(), resolution = 'returned', resolved_by = $3,
          note = $4
        where provider_transaction = $1 and state = 'waiting' and kobo = $2 returning 1),
      part as (
        update suspense_items set kobo = kobo - $2
        where provider_transaction = $1 and state = 'waiting' and kobo > $2 returning 1)
      select 1 from whole union all select 1 from part`,
    values: [transaction, kobo, by, note],
  })
  if (rows.length !== 1) throw new Error(`payment ${transaction} has no ${kobo} kobo in suspense`)
}

const waitingAgain = advanceSuspense('waiting', ['resolved'])

/** The provider has given back what it took. The caller posts the entries. Throws while the rest is being refunded. */
export async function giveBackToSuspense(trx: Knex, transaction: string, kobo: bigint): Promise<void> {
  if (kobo === 0n) return
  const rows = await query(trx, {
    name: 'suspense.give-back',
    text: /* sql */ `
      with whole as (
        update suspense_items set ${waitingAgain.set}, kobo = $2, resolved_at = null, resolution = null, resolved_by = null,
          note = null, refund_id = null, refund_by = null, refund_note = null
        where provider_transaction = $1 and ${waitingAgain.from} returning 1),
      part as (
        update suspense_items set kobo = kobo + $2 where provider_transaction = $1 and state = 'waiting' returning 1)
      select 1 from whole union all select 1 from part`,
    values: [transaction, kobo],
  })
  if (rows.length !== 1) throw new Error(`payment ${transaction} is being refunded`)
}

function returnEntries({ kobo }: SuspenseItem): Entry[] {
  return transferEntries(kobo, platformAccount('suspense', 'NGN'), platformAccount('float_ngn', 'NGN'))
}

function assignEntries({ kobo }: SuspenseItem, { intent, ...value }: Assignment): Entry[] {
  const naira = transferEntries(kobo, platformAccount('suspense', 'NGN'), platformAccount('fx', 'NGN'))
  return [...naira, ...creditEntries(intent.userId, value)]
}

export interface Assignment extends FiatCredit {
  readonly intent: LockedIntent
  /** The row of the rate at which it counts. */
  readonly rateId: bigint
}

/**
 * Makes assigned money part of its tip, with the name and the message that were given. A tip that is not confirmed becomes
 * so. A confirmed one shows the sum.
 */
async function addToTip(
  uow: UnitOfWork,
  kobo: bigint,
  { intent, rateId, ...value }: Assignment,
): Promise<void> {
  const { trx } = uow
  const { id, price } = intent
  const { creditMicro, revenueMicro } = value
  const creditedMicro = (intent.creditedMicro ?? 0n) + creditMicro
  const countedKobo = (intent.countedKobo ?? 0n) + kobo
  if (intent.status !== 'confirmed')
    await confirmFiatTip(uow, { id, ...amountsShown(price, value, kobo), creditedMicro })
  else await addToFiatTip(trx, { id, creditMicro, revenueMicro, countedKobo })
  await write(trx, {
    name: 'fiat.assign',
    text: /* sql */ `
      update fiat_intents set settled_kobo = $2, credited_micro = $3, settle_rate_id = coalesce(settle_rate_id, $4),
        metadata = metadata || '{"assigned": true}'
      where id = $1`,
    values: [id, countedKobo, creditedMicro, rateId],
  })
  await closeIntent(trx, id)
}
