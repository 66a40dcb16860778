import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import type { WithdrawalStatus } from '../lifecycle.js'

/**
 * Where the provider's list and our withdrawals say different things. `not_ours`: a transfer we know nothing of;
 * `not_theirs`: one we think was sent; `sent_twice`: two under one reference; `amount`, `status`: they differ.
 */
type DifferenceKind = 'not_ours' | 'not_theirs' | 'sent_twice' | 'amount' | 'status'

export interface Difference {
  readonly providerReference: string
  readonly kind: DifferenceKind
  readonly ours: string | null
  readonly theirs: string | null
}

/** What of a withdrawal is compared. */
export interface Comparable {
  readonly providerReference: string
  readonly status: WithdrawalStatus
  readonly netKobo: bigint
  /** A person has dealt with what the provider shows otherwise. */
  readonly dealtWith: boolean
}

type Needs = Pick<Services, 'db' | 'payouts' | 'metrics' | 'log'>

const hourMs = 3_600_000
/** Two days, so that a day on which nobody could ask is made up for. */
const windowHours = 48
/** What is younger is on its way, here or there. */
const youngHours = 1

/**
 * Compares the provider's list of transfers with our withdrawals and reports what differs: each difference once, with an
 * alarm. Moves nothing: what one of them means a person decides. Returns what differs now. Throws ProviderError.
 */
export async function compareTransfers(services: Needs): Promise<Difference[]> {
  const { db, payouts, metrics, log } = services
  const now = Date.now()
  const listed: ProviderTransfer[] = []
  for await (const page of payouts.list(new Date(now - windowHours * hourMs), new Date(now)))
    listed.push(...page)
  const references = listed.map(({ reference }) => reference)
  // Read after the list: what it shows has reached our rows by now, or the reconciler is late.
  const sent = await sentRows(db)
  const differences = differencesOf(listed, await ownRows(db, references), sent)
  const compared = [...references, ...sent.map(({ providerReference }) => providerReference)]
  const news = await note(db, differences, compared)
  if (news.length > 0) {
    metrics.alerts.inc({ kind: 'payout_difference' }, news.length)
    log.error(
      { references: news },
      'the provider’s transfers and ours differ: npm run ops -- payouts compare',
    )
  }
  return differences
}

/** Pure. `own`: our withdrawals among the listed; `sent`: those that must be listed. */
export function differencesOf(
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
  const told = transfers.map(({ id, state }) => `${id} ${state}`).join(', ')
  if (own === undefined) return [{ providerReference, kind: 'not_ours', ours: null, theirs: told }]
  const found: Difference[] = []
  if (transfers.length > 1)
    found.push({ providerReference, kind: 'sent_twice', ours: own.status, theirs: told })
  const wrong = transfers.find(({ amountKobo, currency }) => amountKobo !== own.netKobo || currency !== 'NGN')
  if (wrong !== undefined) {
    const theirs = `${wrong.currency} ${wrong.amountKobo}`
    found.push({ providerReference, kind: 'amount', ours: `NGN ${own.netKobo}`, theirs })
  }
  if (!own.dealtWith && transfers.some(({ state }) => contradicts(own.status, state)))
    found.push({ providerReference, kind: 'status', ours: own.status, theirs: told })
  return found
}

/** Only of ends: what is under way here is asked about all the time. */
function contradicts(status: WithdrawalStatus, state: ProviderTransfer['state']): boolean {
  const unpaid = state === 'failed' || state === 'returned'
  return (status === 'completed' && state !== 'paid') || (status === 'failed' && !unpaid)
}

const comparable = /* sql */ `
  w.provider_reference as "providerReference", w.status, w.net_kobo as "netKobo",
  exists (select from review_items r where r.withdrawal_id = w.id
    and r.kind in ('reversed', 'paid_after_failed') and r.resolved_at is not null) as "dealtWith"`

function ownRows(db: Knex, references: readonly string[]): Promise<Comparable[]> {
  return query<Comparable>(db, {
    name: 'compare.own',
    text: /* sql */ `
      select ${comparable} from withdrawals w where provider_reference = any($1::text[])`,
    values: [references],
  })
}

/** What the provider accepted long enough ago, and not so long that its list does not reach back. */
function sentRows(db: Knex): Promise<Comparable[]> {
  return query<Comparable>(db, {
    name: 'compare.sent',
    text: /* sql */ `
      select ${comparable} from withdrawals w
      where send_state = 'sent' and sent_at < clock_timestamp() - $1 * interval '1 hour'
        and created_at > clock_timestamp() - $2 * interval '1 hour'`,
    values: [youngHours, windowHours - youngHours],
  })
}

/** Keeps what differs, and nothing of what was compared and differs no more. Returns the references of what was not known yet. */
async function note(
  db: Knex,
  differences: readonly Difference[],
  compared: readonly string[],
): Promise<string[]> {
  const rows = await query<{ reference: string; isNew: boolean }>(db, {
    name: 'compare.note',
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
