import type { Knex } from 'knex'
import { nairaText } from '../../kernel/money.js'
import { type Difference, readAll, storeDifferences } from '../../outgoing/differences.js'
import { query } from '../../platform/database/database.js'
import { readClock } from '../../platform/database/read-clock.js'
import type { ListedPayment } from '../../ports/collections.js'
import type { Dispute } from '../../ports/disputes.js'
import { goneKoboOf } from '../gone-payments.js'
import type { DisputeState } from '../lifecycle.js'
import type { ReturnNeeds } from './returns-queue.js'

/**
 * How the provider's lists of payments, refunds and disputes differ from our rows.
 * - `not_ours`: the provider has it, we do not
 * - `not_theirs`: we have it, the provider does not list it
 * - `amount`, `state`: the two sides differ
 * - `sent_twice`: two refunds went out for one request (record-returns.ts)
 */
type DifferenceKind = 'not_ours' | 'not_theirs' | 'amount' | 'state' | 'sent_twice'

export interface CollectionDifference extends Difference<DifferenceKind> {
  /** Such as `payment 17`. */
  readonly subject: string
}

const stored = { table: 'collection_differences', subject: 'subject' } as const

/** Stores the differences of what was compared, and alarms operators of the new ones. `text`: says so in the log. */
export async function storeAndAlarm(
  { db, metrics, log }: Pick<ReturnNeeds, 'db' | 'metrics' | 'log'>,
  differences: readonly CollectionDifference[],
  compared: readonly string[],
  text: string,
): Promise<void> {
  const found = await storeDifferences(db, stored, ({ subject }) => subject, differences, compared)
  if (found.length === 0) return
  metrics.alerts.inc({ kind: 'collection_difference' }, found.length)
  log.error({ subjects: found }, `${text}. Run: npm run ops -- disputes --compare`)
}

export interface OwnPayment {
  readonly transaction: string
  readonly kobo: bigint
  /** What is booked as gone back. */
  readonly goneKobo: bigint
  /** Old enough to be listed, and young enough for the list. */
  readonly mustBeListed: boolean
}

export interface OwnDispute {
  readonly id: string
  readonly state: DisputeState
  readonly kobo: bigint
  readonly mustBeListed: boolean
}

/** A refund of the provider, without those that a dispute made. */
interface ListedRefund {
  readonly id: string
  readonly transaction: string
  readonly kobo: bigint
  readonly state: string
}

type Needs = Pick<ReturnNeeds, 'db' | 'collections' | 'disputes' | 'refunds' | 'metrics' | 'log'>

const hourMs = 3_600_000
/** Two days, so that a failed daily run is made up for by the next one. */
const paymentHours = 48
/** Refunds and disputes are listed by the day they began, and end later. */
const returnHours = 30 * 24
/** What is younger may be on its way to the other side. */
const graceHours = 1

export interface Lists {
  readonly payments: readonly ListedPayment[]
  readonly refunds: readonly ListedRefund[]
  readonly disputes: readonly Dispute[]
}

/**
 * Compares the provider's lists of payments, refunds and disputes with our rows. Alarms an operator once for each difference, and
 * changes nothing else: a person decides. Returns what differs now. Throws ProviderError. `hours`: how far back, after a restore; what
 * happened just now counts then too, but for payments that settlement will still fetch.
 */
export async function compareCollections(
  services: Needs,
  hours?: number,
): Promise<readonly CollectionDifference[]> {
  const { db } = services
  const window = hours ?? paymentHours
  const now = await readClock(db)
  const lists = await readLists(services, window, now)
  // Our rows are read after the lists, so they are not older than them.
  const readAt = (await readClock(db)).getTime()
  const hourAgo = readAt - graceHours * hourMs
  const payments = await ownPayments(db, lists, window)
  const disputes = await ownDisputes(db, lists)
  const differences = findCollectionDifferences(lists, payments, disputes, {
    since: hours === undefined ? hourAgo : readAt,
    polled: await polledReferences(db, lists, hourAgo),
    polledSince: hourAgo,
  })
  const compared = [
    ...[...lists.payments, ...payments].flatMap(({ transaction }) => [
      paymentSubject(transaction),
      returnsSubject(transaction),
    ]),
    ...[...lists.disputes, ...disputes].map(({ id }) => disputeSubject(id)),
  ]
  await storeAndAlarm(
    services,
    differences,
    compared,
    'the provider’s payments, refunds or disputes and ours differ',
  )
  return differences
}

async function readLists(
  { collections, disputes, refunds }: Needs,
  hours: number,
  now: Date,
): Promise<Lists> {
  const since = (hours: number) => new Date(now.getTime() - hours * hourMs)
  return {
    payments: await readAll(collections.listAllPayments(since(hours), now)),
    refunds: (await readAll(refunds.listAll(since(Math.max(hours, returnHours)), now))).filter(
      ({ dispute }) => dispute === null,
    ),
    disputes: await readAll(disputes.list(since(Math.max(hours, returnHours)), now)),
  }
}

/** What happened at the provider after these times need not be here yet. */
export interface Grace {
  readonly since: number
  /** The references of intents whose payments settlement still fetches. */
  readonly polled: ReadonlySet<string>
  readonly polledSince: number
}

/** Pure. */
export function findCollectionDifferences(
  { payments, refunds, disputes }: Lists,
  ownPayments: readonly OwnPayment[],
  ownDisputes: readonly OwnDispute[],
  grace: Grace,
): CollectionDifference[] {
  const own = new Map(ownPayments.map((row) => [row.transaction, row]))
  const listed = new Set(payments.map(({ transaction }) => transaction))
  return [
    ...payments.flatMap((payment) => comparePayment(payment, own.get(payment.transaction), grace)),
    ...ownPayments
      .filter(({ transaction, mustBeListed }) => mustBeListed && !listed.has(transaction))
      .map(({ transaction, kobo }) =>
        difference(paymentSubject(transaction), 'not_theirs', nairaText(kobo), null),
      ),
    ...compareRefunds(refunds, disputes, own),
    ...compareDisputes(disputes, ownDisputes, grace.since),
  ]
}

const paymentSubject = (transaction: string): string => `payment ${transaction}`
const returnsSubject = (transaction: string): string => `returns of payment ${transaction}`
const disputeSubject = (id: string): string => `dispute ${id}`

function difference(
  subject: string,
  kind: DifferenceKind,
  ours: string | null,
  theirs: string | null,
): CollectionDifference {
  return { subject, kind, ours, theirs }
}

function comparePayment(
  { transaction, reference, kobo, reversed, paidAt }: ListedPayment,
  own: OwnPayment | undefined,
  { since, polled, polledSince }: Grace,
): CollectionDifference[] {
  const subject = paymentSubject(transaction)
  if (own === undefined) {
    // One that is gone again is never recorded, and nothing was credited.
    const isMissing = !reversed && paidAt.getTime() < (polled.has(reference) ? polledSince : since)
    return isMissing ? [difference(subject, 'not_ours', null, `${nairaText(kobo)} for ${reference}`)] : []
  }
  if (own.kobo !== kobo) return [difference(subject, 'amount', nairaText(own.kobo), nairaText(kobo))]
  if (!reversed || own.goneKobo >= kobo) return []
  return [difference(subject, 'state', `${nairaText(own.goneKobo)} went back`, 'reversed')]
}

/** What went back of each payment, by refunds and lost disputes, must be booked. */
function compareRefunds(
  refunds: readonly ListedRefund[],
  disputes: readonly Dispute[],
  own: ReadonlyMap<string, OwnPayment>,
): CollectionDifference[] {
  const gone = new Map<string, bigint>()
  const add = (transaction: string, kobo: bigint) =>
    gone.set(transaction, (gone.get(transaction) ?? 0n) + kobo)
  for (const { transaction, kobo, state } of refunds) if (state === 'paid') add(transaction, kobo)
  for (const { transaction, kobo, state } of disputes) if (state === 'lost') add(transaction, kobo)
  return [...gone].flatMap(([transaction, kobo]) => {
    const payment = own.get(transaction)
    if (payment === undefined) return []
    const shown = kobo < payment.kobo ? kobo : payment.kobo
    if (payment.goneKobo >= shown) return []
    return [difference(returnsSubject(transaction), 'amount', nairaText(payment.goneKobo), nairaText(shown))]
  })
}

function compareDisputes(
  disputes: readonly Dispute[],
  ownDisputes: readonly OwnDispute[],
  since: number,
): CollectionDifference[] {
  const own = new Map(ownDisputes.map((row) => [row.id, row]))
  const listed = new Set(disputes.map(({ id }) => id))
  return [
    ...disputes.flatMap(({ id, state, kobo, createdAt }) => {
      const subject = disputeSubject(id)
      const ours = own.get(id)
      if (ours === undefined)
        return createdAt.getTime() < since
          ? [difference(subject, 'not_ours', null, `${state}, ${nairaText(kobo)}`)]
          : []
      return ours.state === state ? [] : [difference(subject, 'state', ours.state, state)]
    }),
    ...ownDisputes
      .filter(({ id, mustBeListed }) => mustBeListed && !listed.has(id))
      .map(({ id, state, kobo }) =>
        difference(disputeSubject(id), 'not_theirs', `${state}, ${nairaText(kobo)}`, null),
      ),
  ]
}

/** The payments that are listed, that something came back of, and that must be listed. */
function ownPayments(db: Knex, { payments, refunds, disputes }: Lists, hours: number): Promise<OwnPayment[]> {
  const named = [...payments, ...refunds, ...disputes].map(({ transaction }) => transaction)
  return query<OwnPayment>(db, {
    name: 'compare.payments',
    text: /* sql */ `
      with must as (
        select p.provider_transaction from fiat_intents f join fiat_payments p on p.intent_id = f.id
        where f.created_at > clock_timestamp() - $2::int * interval '1 hour'
          and p.created_at < clock_timestamp() - $3::int * interval '1 hour')
      select p.provider_transaction as transaction, p.kobo,
        ${goneKoboOf('p.provider_transaction')} as "goneKobo",
        p.provider_transaction in (select provider_transaction from must) as "mustBeListed"
      from fiat_payments p
      where p.provider_transaction = any($1::text[]) or p.provider_transaction in (select provider_transaction from must)`,
    values: [[...new Set(named)], hours - graceHours, graceHours],
  })
}

/** Of the listed payments since then, the references that are intents which are still polled. */
async function polledReferences(db: Knex, { payments }: Lists, since: number): Promise<Set<string>> {
  const rows = await query<{ reference: string }>(db, {
    name: 'compare.polled',
    text: /* sql */ `
      select provider_reference as reference from fiat_intents
      where provider_reference = any($1::text[]) and due_at is not null`,
    values: [payments.filter(({ paidAt }) => paidAt.getTime() >= since).map(({ reference }) => reference)],
  })
  return new Set(rows.map(({ reference }) => reference))
}

function ownDisputes(db: Knex, { disputes }: Lists): Promise<OwnDispute[]> {
  return query<OwnDispute>(db, {
    name: 'compare.disputes',
    text: /* sql */ `
      select id, state, kobo, opened_at > clock_timestamp() - $2::int * interval '1 hour' as "mustBeListed" from disputes
      where id = any($1::text[]) or opened_at > clock_timestamp() - $2::int * interval '1 hour'`,
    values: [disputes.map(({ id }) => id), returnHours - graceHours],
  })
}
