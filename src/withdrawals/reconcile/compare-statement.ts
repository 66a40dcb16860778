import type { Knex } from 'knex'
import { nairaText } from '../../kernel/money.js'
import { sqlList } from '../../kernel/state-machine.js'
import { isUnpaid } from '../../outgoing/decide.js'
import { type Difference as ListDifference, readAll, storeDifferences } from '../../outgoing/differences.js'
import { heldStates, type OutgoingStatus } from '../../outgoing/lifecycle.js'
import { query } from '../../platform/database/database.js'
import { readClock } from '../../platform/database/read-clock.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import type { Services } from '../../services.js'

/**
 * How the provider's list of transfers differs from our withdrawals.
 * - `not_ours`: the provider has a transfer that is no withdrawal of ours
 * - `not_theirs`: we sent a withdrawal that the provider does not list
 * - `sent_twice`: the provider has two transfers with one reference
 * - `amount`, `status`: the two sides differ
 */
type DifferenceKind = 'not_ours' | 'not_theirs' | 'sent_twice' | 'amount' | 'status'

export interface Difference extends ListDifference<DifferenceKind> {
  readonly providerReference: string
}

const stored = { table: 'reconciliation_differences', subject: 'provider_reference' } as const

export interface Comparable {
  readonly providerReference: string
  readonly status: OutgoingStatus
  readonly netKobo: bigint
  /** It was never sent from here: it waits for its creator. */
  readonly held?: boolean
  /** The creator was credited again, so the provider must not pay it. */
  readonly recredited: boolean
  /** A person has settled a review about the different status. */
  readonly settled: boolean
}

/** A withdrawal with an open review: paid again after a re-credit. Usually too old for the provider's list. */
interface PaidAgain {
  readonly providerReference: string
  readonly state: string
}

type Needs = Pick<Services, 'db' | 'payouts' | 'metrics' | 'log'>

const hourMs = 3_600_000
/** Two days, so that a failed daily run is made up for by the next one. */
const windowHours = 48
/** Withdrawals sent less than an hour ago may be on their way and need not be listed. */
const graceHours = 1

/**
 * Compares the provider's list of transfers with our withdrawals. Alarms an operator once for each difference, and changes no
 * withdrawal: a person decides. Returns the current differences. Throws ProviderError. `hours`: how far back.
 */
export async function compareTransfers(services: Needs, hours = windowHours): Promise<Difference[]> {
  const { db, payouts, metrics, log } = services
  const now = (await readClock(db)).getTime()
  const listed = await readAll(payouts.listTransfers(new Date(now - hours * hourMs), new Date(now)))
  const references = listed.map(({ reference }) => reference)
  // Our rows are read after the list, so they are not older than it.
  const sent = await sentRows(db, hours)
  const found = findDifferences(listed, await ownRows(db, references), sent)
  const differences = addPaidAgain(found, await listPaidAgain(db))
  const compared = [
    ...references,
    ...sent.map(({ providerReference }) => providerReference),
    ...(await listRecredited(db)),
  ]
  const newReferences = await storeDifferences(db, stored, referenceOf, differences, compared)
  if (newReferences.length > 0) {
    metrics.alerts.inc({ kind: 'payout_difference' }, newReferences.length)
    log.error(
      { references: newReferences },
      'the provider’s transfers and our withdrawals differ. Run: npm run ops -- payouts compare',
    )
  }
  return differences
}

const referenceOf = ({ providerReference }: Difference): string => providerReference

/** Pure. `own`: our withdrawals that are listed. `sent`: our withdrawals that must be listed. */
export function findDifferences(
  listed: readonly ProviderTransfer[],
  own: readonly Comparable[],
  sent: readonly Comparable[],
): Difference[] {
  const ours = new Map(own.map((row) => [row.providerReference, row]))
  const theirs = new Map<string, ProviderTransfer[]>()
  for (const transfer of listed)
    theirs.set(transfer.reference, [...(theirs.get(transfer.reference) ?? []), transfer])
  const absent = sent.filter(({ providerReference }) => !theirs.has(providerReference))
  return [
    ...[...theirs].flatMap(([reference, transfers]) => compareOne(reference, transfers, ours.get(reference))),
    ...absent.map(({ providerReference, status }) => ({
      providerReference,
      kind: 'not_theirs' as const,
      ours: status,
      theirs: null,
    })),
  ]
}

function compareOne(
  providerReference: string,
  transfers: readonly ProviderTransfer[],
  own: Comparable | undefined,
): Difference[] {
  const shown = transfers.map(({ id, state }) => `${id} ${state}`).join(', ')
  if (own === undefined) return [{ providerReference, kind: 'not_ours', ours: null, theirs: shown }]
  const found: Difference[] = []
  if (transfers.length > 1)
    found.push({ providerReference, kind: 'sent_twice', ours: own.status, theirs: shown })
  const wrong = transfers.find(({ amountKobo, currency }) => amountKobo !== own.netKobo || currency !== 'NGN')
  if (wrong !== undefined) {
    const theirs = nairaText(wrong.amountKobo).replace('NGN', wrong.currency)
    found.push({ providerReference, kind: 'amount', ours: nairaText(own.netKobo), theirs })
  }
  if (!own.settled && transfers.some(({ state }) => contradicts(own, state))) {
    const ours = own.recredited ? recreditedStatus : own.status
    found.push({ providerReference, kind: 'status', ours, theirs: shown })
  }
  return found
}

const recreditedStatus = 'completed, then credited again'

/** Adds the open reviews of money paid again, which are not in the list any more. */
function addPaidAgain(differences: readonly Difference[], paidAgain: readonly PaidAgain[]): Difference[] {
  const listed = new Set(
    differences.flatMap(({ kind, providerReference }) => (kind === 'status' ? [providerReference] : [])),
  )
  const added = paidAgain.filter(({ providerReference }) => !listed.has(providerReference))
  return [
    ...differences,
    ...added.map(({ providerReference, state }) => ({
      providerReference,
      kind: 'status' as const,
      ours: recreditedStatus,
      theirs: state,
    })),
  ]
}

/** Only for final statuses, and what was never sent. The reconciler polls the others. */
function contradicts({ status, held, recredited }: Comparable, state: ProviderTransfer['state']): boolean {
  if (held === true) return true
  if (status === 'failed' || recredited) return !isUnpaid(state)
  return status === 'completed' && state !== 'paid'
}

const comparable = /* sql */ `
  w.provider_reference as "providerReference", w.status, coalesce(w.paid_kobo, w.net_kobo) as "netKobo",
  w.send_state in (${sqlList(heldStates)}) as "held", w.recredited_at is not null as "recredited",
  exists (select from review_items r where r.withdrawal_id = w.id and r.resolved_at is not null and r.outdated_at is null
    and r.kind = any(case when w.recredited_at is not null then array['paid_after_recredit']
      when w.status = 'failed' then array['paid_after_failed']
      else array['reversed', 'failed_after_completed'] end)) as "settled"`

function listPaidAgain(db: Knex): Promise<PaidAgain[]> {
  return query<PaidAgain>(db, {
    name: 'compare.paid-again',
    text: /* sql */ `
      select w.provider_reference as "providerReference", r.details->>'state' as state
      from review_items r join withdrawals w on w.id = r.withdrawal_id
      where r.kind = 'paid_after_recredit' and r.resolved_at is null order by r.id`,
    values: [],
  })
}

/** The references of all withdrawals that were credited again. */
async function listRecredited(db: Knex): Promise<string[]> {
  const rows = await query<{ reference: string }>(db, {
    name: 'compare.recredited',
    text: 'select provider_reference as reference from withdrawals where recredited_at is not null',
    values: [],
  })
  return rows.map(({ reference }) => reference)
}

function ownRows(db: Knex, references: readonly string[]): Promise<Comparable[]> {
  return query<Comparable>(db, {
    name: 'compare.own',
    text: /* sql */ `
      select ${comparable} from withdrawals w
      where reference = any($1::text[]) and provider_reference = any($2::text[])`,
    values: [references.map((reference) => reference.toUpperCase()), references],
  })
}

/** Withdrawals that the provider accepted, old enough to be listed and within the window of the list. */
function sentRows(db: Knex, hours: number): Promise<Comparable[]> {
  return query<Comparable>(db, {
    name: 'compare.sent',
    text: /* sql */ `
      select ${comparable} from withdrawals w
      where send_state = 'sent' and sent_at < clock_timestamp() - $1 * interval '1 hour'
        and created_at > clock_timestamp() - $2 * interval '1 hour'`,
    values: [graceHours, hours - graceHours],
  })
}
