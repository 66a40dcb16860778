import type { Knex } from 'knex'
import { nairaText } from '../../kernel/money.js'
import { sqlList } from '../../kernel/state-machine.js'
import { readReadable } from '../../outgoing/differences.js'
import type { OutgoingStatus } from '../../outgoing/lifecycle.js'
import { query, write } from '../../platform/database/database.js'
import { readClock } from '../../platform/database/read-clock.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ListedPayment } from '../../ports/collections.js'
import { goneKoboOf, returnedByOperator } from '../gone-payments.js'
import { undecidedStates } from '../lifecycle.js'
import { listRefundsOf } from '../provider-refunds.js'
import { lockIntent } from '../settlement/lock-intent.js'
import { type BookedReturn, bookReturn, type PaymentReturn } from './book-return.js'
import { type CollectionDifference, storeAndAlarm } from './compare-collections.js'
import { mailReturnNews } from './mails.js'
import { readShares } from './payment-shares.js'
import { showReturns } from './record-dispute.js'
import type { ReturnNeeds } from './returns-queue.js'

const dayMs = 86_400_000
/** A refund is listed by the day it was requested, and paid some days later. */
const refundDays = 30
/** A payment is listed by the day it was made, and can be reversed months later. */
const reversedDays = 120

interface Refund {
  readonly id: string
  readonly transaction: string
  readonly kobo: bigint
  readonly note: string
}

/**
 * Books the refunds that nobody here has requested: somebody did so at the provider's own pages. One that was requested here and went
 * out besides the one that is booked is our loss, of which operators are told.
 */
export async function recordRefunds(services: ReturnNeeds): Promise<void> {
  const now = (await readClock(services.db)).getTime()
  const listed = services.refunds.listAll(new Date(now - refundDays * dayMs), new Date(now))
  const { rows, error } = await readReadable(listed)
  const paid = rows.filter(({ state, dispute }) => state === 'paid' && dispute === null)
  const { notOurs, sentTwice, returned } = await sortUnbooked(services, paid.reverse())
  if (sentTwice.length > 0) await alarmSentTwice(services, sentTwice)
  const bookings = notOurs.map((refund) => () => {
    const loss = { id: caseOfRefund(refund), kind: 'refund', kobo: refund.kobo } as const
    return book(services, refund.transaction, loss)
  })
  // A refund that cannot be read may be the one that was returned.
  const matches = (error === undefined ? returned : []).map((match) => () => setReturned(services.db, match))
  await eachAlone([...bookings, ...matches], (act) => act())
  if (error !== undefined) throw error
}

const caseOfRefund = ({ id }: Pick<Refund, 'id'>): string => `refund:${id}`

/** One that fails stops no other. Throws the first failure at the end. */
async function eachAlone<Row>(rows: readonly Row[], work: (row: Row) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  for (const row of rows) await work(row).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** What we know of the refunds of a payment. */
interface OwnRefunds {
  readonly transaction: string
  /** Returned of money in suspense, as an operator said. */
  suspenseKobo: bigint | null
  /** The cases that are booked, and the refunds that were requested here. */
  readonly booked: readonly string[]
  /** Those that were requested here and have not failed, by their ids, which the provider shows as notes. */
  readonly requested: Readonly<Record<string, OutgoingStatus>>
  /** Of those, the completed ones that are not shown as paid, because an operator said that they were: kobo by id. */
  readonly returned: Readonly<Record<string, string>>
  /** One that is under way may be any of those that are shown. */
  readonly waits: boolean
}

interface Unbooked {
  /** Not requested by this service. */
  readonly notOurs: Refund[]
  /** By their request another one was paid. */
  readonly sentTwice: Refund[]
  /** Requests that were returned as an operator said, with the provider's refund that each is. */
  readonly returned: { readonly requestId: string; readonly providerId: string }[]
}

/** Sorts the refunds of recorded payments, oldest first, that are not booked. */
async function sortUnbooked({ db }: ReturnNeeds, refunds: readonly Refund[]): Promise<Unbooked> {
  const sorted: Unbooked = { notOurs: [], sentTwice: [], returned: [] }
  const own = await readOwnRefunds(db, refunds)
  const payments = new Map(
    own.map((one) => [one.transaction, { ...one, unseen: new Map(Object.entries(one.returned)) }]),
  )
  for (const refund of refunds) {
    const payment = payments.get(refund.transaction)
    if (payment !== undefined && !payment.booked.includes(caseOfRefund(refund))) sort(sorted, payment, refund)
  }
  return sorted
}

/** `unseen`: of what was returned, what no refund so far has explained. */
function sort(
  sorted: Unbooked,
  payment: OwnRefunds & { readonly unseen: Map<string, string> },
  refund: Refund,
): void {
  const status = payment.requested[refund.note]
  if (status === undefined && payment.waits) return
  const isSame = ([id, kobo]: readonly [string, string]): boolean =>
    status === undefined ? kobo === String(refund.kobo) : id === refund.note
  const [requestId] = [...payment.unseen].find(isSame) ?? []
  if (requestId !== undefined) {
    payment.unseen.delete(requestId)
    sorted.returned.push({ requestId, providerId: refund.id })
  } else if (status === 'completed') sorted.sentTwice.push(refund)
  else if (status !== undefined) return
  // One refund of the sum in suspense is ours.
  else if (payment.suspenseKobo === refund.kobo) payment.suspenseKobo = null
  else sorted.notOurs.push(refund)
}

async function readOwnRefunds(db: Knex, refunds: readonly Refund[]): Promise<OwnRefunds[]> {
  if (refunds.length === 0) return []
  return query<OwnRefunds>(db, {
    name: 'returns.own-refunds',
    text: /* sql */ `
      select p.provider_transaction as transaction,
        (select s.kobo from suspense_items s where s.provider_transaction = p.provider_transaction
          and ${returnedByOperator('s')}
          and not exists (select from refunds o where o.id = s.refund_id and o.status = 'completed'))
          as "suspenseKobo",
        array(select r.id from payment_returns r where r.provider_transaction = p.provider_transaction
          union all
          select 'refund:' || o.provider_id from refunds o where o.provider_transaction = p.provider_transaction
            and o.provider_id is not null and o.status <> 'failed') as booked,
        exists (select from refunds o where o.provider_transaction = p.provider_transaction and o.provider_id is null
          and o.send_state <> 'not_sent' and o.ended_at is null) as waits,
        coalesce((select jsonb_object_agg(o.id, o.status) from refunds o
          where o.provider_transaction = p.provider_transaction and o.status <> 'failed'), '{}') as requested,
        coalesce((select jsonb_object_agg(o.id, o.kobo::text) from refunds o
          where o.provider_transaction = p.provider_transaction and o.status = 'completed'
            and (o.provider_id is null or o.provider_id <> all($2::text[])
              and coalesce(o.sent_at, o.created_at) > clock_timestamp() - $3::int * interval '1 day')), '{}') as returned
      from fiat_payments p where p.provider_transaction = any($1::text[])`,
    values: [
      [...new Set(refunds.map(({ transaction }) => transaction))],
      refunds.map(({ id }) => id),
      // A day less: what was requested before the list begins is not shown, and was paid all the same.
      refundDays - 1,
    ],
  })
}

/** From now on the provider's refund is known to be this one. */
async function setReturned(db: Knex, { requestId, providerId }: Unbooked['returned'][number]): Promise<void> {
  await write(db, {
    name: 'returns.set-returned',
    // An earlier one that failed has its id for good, and was paid after all.
    text: /* sql */ `
      update refunds set provider_id = $2
      where id = $1 and status = 'completed' and not exists (select from refunds where provider_id = $2)`,
    values: [requestId, providerId],
  })
}

/** The second refunds that went out for one request, while the provider lists them. */
export function listSentTwice(db: Knex): Promise<CollectionDifference[]> {
  return query(db, {
    name: 'returns.sent-twice',
    text: /* sql */ `
      select subject, kind, ours, theirs from collection_differences
      where kind = 'sent_twice' and last_seen_at > clock_timestamp() - interval '2 days' order by found_at, subject`,
    values: [],
  })
}

/** Alarms once for each. It is an open case while the provider lists it. */
function alarmSentTwice(services: ReturnNeeds, refunds: readonly Refund[]): Promise<void> {
  const differences = refunds.map(({ id, note, kobo }) => ({
    subject: `refund ${id}`,
    kind: 'sent_twice' as const,
    ours: note,
    theirs: nairaText(kobo),
  }))
  return storeAndAlarm(services, differences, [], 'a payer has a refund twice, at our loss')
}

/**
 * Books the payments that the payer's bank has taken back without a dispute. A refund and a lost dispute make a payment reversed
 * too, so what they explain is no further loss. `readDisputes`: lists the newest disputes once more, after the reversed payments, and
 * says what went wrong, which this returns.
 */
export async function recordReversals(
  services: ReturnNeeds,
  readDisputes: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const now = (await readClock(services.db)).getTime()
  const from = new Date(now - reversedDays * dayMs)
  const reversed = await readReadable(services.collections.listReversedPayments(from, new Date(now)))
  const left = await withSomethingLeft(services, reversed.rows)
  const inDisputes = left.length > 0 ? await readDisputes() : undefined
  if (inDisputes !== undefined) return inDisputes
  await eachAlone(left, (payment) => recordReversal(services, payment))
  if (reversed.error !== undefined) throw reversed.error
  return undefined
}

/** Those that are recorded, and of which not everything is gone or on its way back. */
async function withSomethingLeft(
  { db }: ReturnNeeds,
  payments: readonly ListedPayment[],
): Promise<ListedPayment[]> {
  if (payments.length === 0) return []
  const rows = await query<{ transaction: string }>(db, {
    name: 'returns.left',
    text: /* sql */ `
      select p.provider_transaction as transaction from fiat_payments p
      where p.provider_transaction = any($1::text[]) and p.kobo > ${goneKoboOf('p.provider_transaction')}`,
    values: [payments.map(({ transaction }) => transaction)],
  })
  const found = new Set(rows.map(({ transaction }) => transaction))
  return payments.filter(({ transaction }) => found.has(transaction))
}

async function recordReversal(services: ReturnNeeds, payment: ListedPayment): Promise<void> {
  const { transaction, kobo } = payment
  const disputes = await query<{ kobo: bigint; waits: boolean }>(services.db, {
    name: 'returns.disputes',
    text: /* sql */ `
      select kobo, state in (${sqlList(undecidedStates)}) or not settled as waits from disputes
      where provider_transaction = $1 and state <> 'won'`,
    values: [transaction],
  })
  // What is under way decides first.
  if (disputes.some(({ waits }) => waits)) return
  const refunds = await listRefundsOf(services.refunds, payment)
  const explained = [
    ...disputes,
    ...refunds.filter(({ state, dispute }) => state !== 'failed' && dispute === null),
  ]
  const unexplained = explained.reduce((left, one) => left - one.kobo, kobo)
  if (unexplained > 0n)
    await book(services, transaction, { id: `reversal:${transaction}`, kind: 'reversal', kobo: unexplained })
}

/** Books a return in a transaction of its own, tells creator and payer, and alarms. */
async function book(services: ReturnNeeds, transaction: string, returned: PaymentReturn): Promise<void> {
  const { transact, metrics, log } = services
  const booked = await transact((uow) => bookLocked(uow, services, transaction, returned))
  if (booked === undefined) return
  metrics.alerts.inc({ kind: 'payment_returned' })
  log.error(
    { payment: transaction, intentId: booked.intentId, kind: returned.kind },
    'a payment went back to its payer without our doing. What its creator owes: npm run ops -- receivables',
  )
}

async function bookLocked(
  uow: UnitOfWork,
  services: ReturnNeeds,
  transaction: string,
  returned: PaymentReturn,
): Promise<BookedReturn | undefined> {
  const unlocked = await readShares(uow.trx, transaction)
  if (unlocked === undefined) return undefined
  await lockIntent(uow.trx, unlocked.intentId)
  const shares = await readShares(uow.trx, transaction)
  // What is left is known when a refund has ended.
  if (shares === undefined || shares.isRefunding) return undefined
  const booked = await bookReturn(uow.trx, shares, returned)
  if (booked === undefined) return undefined
  await showReturns(uow.trx, booked.intentId)
  await mailReturnNews(
    uow,
    services,
    { intentId: booked.intentId, kobo: booked.suspenseKobo + booked.creditedKobo },
    { kind: 'returned', loss: booked },
  )
  return booked
}
