import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import type { WithdrawalStatus } from '../lifecycle.js'
import { settledOnceKinds } from '../review/review.js'

/**
 * How the provider's list of transfers differs from our withdrawals.
 * - `not_ours`: the provider has a transfer that is no withdrawal of ours
 * - `not_theirs`: we sent a withdrawal that the provider does not list
 * - `sent_twice`: the provider has two transfers with one reference
 * - `amount`, `status`: the two sides differ
 */
type DifferenceKind = 'not_ours' | 'not_theirs' | 'sent_twice' | 'amount' | 'status'

export interface Difference {
  readonly providerReference: string
  readonly kind: DifferenceKind
  readonly ours: string | null
  readonly theirs: string | null
}

/** The fields of a withdrawal that are compared. */
export interface Comparable {
  readonly providerReference: string
  readonly status: WithdrawalStatus
  readonly netKobo: bigint
  /** A person has settled a review about the different status. */
  readonly settled: boolean
}

type Needs = Pick<Services, 'db' | 'payouts' | 'metrics' | 'log'>

const hourMs = 3_600_000
/** Two days, so that a failed daily run is made up for by the next one. */
const windowHours = 48
/** Withdrawals sent less than an hour ago may be on their way and need not be listed. */
const graceHours = 1

/**
 * Compares the provider's list of transfers with our withdrawals. Alarms an operator once for each difference, and changes no
 * withdrawal: a person decides. Returns the current differences. Throws ProviderError.
 */
export async function compareTransfers(services: Needs): Promise<Difference[]> {
  const { db, payouts, metrics, log } = services
  const now = Date.now()
  const listed: ProviderTransfer[] = []
  for await (const page of payouts.listTransfers(new Date(now - windowHours * hourMs), new Date(now)))
    listed.push(...page)
  const references = listed.map(({ reference }) => reference)
  // Our rows are read after the list, so they are not older than it.
  const sent = await sentRows(db)
  const differences = findDifferences(listed, await ownRows(db, references), sent)
  const compared = [...references, ...sent.map(({ providerReference }) => providerReference)]
  const newReferences = await storeDifferences(db, differences, compared)
  if (newReferences.length > 0) {
    metrics.alerts.inc({ kind: 'payout_difference' }, newReferences.length)
    log.error(
      { references: newReferences },
      'the provider’s transfers and our withdrawals differ. Run: npm run ops -- payouts compare',
    )
  }
  return differences
}

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
    const theirs = `${wrong.currency} ${wrong.amountKobo}`
    found.push({ providerReference, kind: 'amount', ours: `NGN ${own.netKobo}`, theirs })
  }
  if (!own.settled && transfers.some(({ state }) => contradicts(own.status, state)))
    found.push({ providerReference, kind: 'status', ours: own.status, theirs: shown })
  return found
}

/** Only for final statuses. The reconciler polls the others. */
function contradicts(status: WithdrawalStatus, state: ProviderTransfer['state']): boolean {
  const unpaid = state === 'failed' || state === 'returned'
  return (status === 'completed' && state !== 'paid') || (status === 'failed' && !unpaid)
}

/** The columns of `Comparable`. `kinds`: the parameter that holds `settledOnceKinds`. */
const comparable = (kinds: '$2' | '$3') => /* sql */ `
  w.provider_reference as "providerReference", w.status, w.net_kobo as "netKobo",
  exists (select from review_items r where r.withdrawal_id = w.id
    and r.kind = any(${kinds}::text[]) and r.resolved_at is not null) as "settled"`

function ownRows(db: Knex, references: readonly string[]): Promise<Comparable[]> {
  return query<Comparable>(db, {
    name: 'compare.own',
    text: /* sql */ `
      select ${comparable('$2')} from withdrawals w where provider_reference = any($1::text[])`,
    values: [references, settledOnceKinds],
  })
}

/** Withdrawals that the provider accepted, old enough to be listed and within the window of the list. */
function sentRows(db: Knex): Promise<Comparable[]> {
  return query<Comparable>(db, {
    name: 'compare.sent',
    text: /* sql */ `
      select ${comparable('$3')} from withdrawals w
      where send_state = 'sent' and sent_at < clock_timestamp() - $1 * interval '1 hour'
        and created_at > clock_timestamp() - $2 * interval '1 hour'`,
    values: [graceHours, windowHours - graceHours, settledOnceKinds],
  })
}

/**
 * Stores the differences and deletes those that no longer exist among the compared references. Returns the references of
 * the new ones.
 */
async function storeDifferences(
  db: Knex,
  differences: readonly Difference[],
  compared: readonly string[],
): Promise<string[]> {
  const rows = await query<{ reference: string; isNew: boolean }>(db, {
    name: 'compare.store',
    text: /* sql */ `
      with gone as (
        delete from reconciliation_differences where provider_reference = any($5::text[])
          and (provider_reference, kind) not in (select * from unnest($1::text[], $2::text[])))
      insert into reconciliation_differences as d (provider_reference, kind, ours, theirs)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
      on conflict (provider_reference, kind) do update
        set ours = excluded.ours, theirs = excluded.theirs, last_seen_at = clock_timestamp()
      returning d.provider_reference as reference, d.xmax = 0 as "isNew"`,
    values: [
      differences.map(({ providerReference }) => providerReference),
      differences.map(({ kind }) => kind),
      differences.map(({ ours }) => ours),
      differences.map(({ theirs }) => theirs),
      compared,
    ],
  })
  return rows.flatMap(({ reference, isNew }) => (isNew ? [reference] : []))
}
