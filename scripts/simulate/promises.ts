import type { Knex } from 'knex'
import { isFinal } from '../../src/kernel/state-machine.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import type { OutgoingStatus } from '../../src/outgoing/lifecycle.js'
import { query } from '../../src/platform/database/database.js'
import { readPosition } from '../../src/reserves/position.js'
import { statusMachine } from '../../src/withdrawals/lifecycle.js'
import type { Told } from './people.js'
import { feeKobo, isAway, type Provider } from './provider.js'

interface Row {
  readonly reference: string
  readonly providerReference: string
  readonly status: OutgoingStatus
  readonly recredited: boolean
  readonly resolutions: number
  /** What was ordered, and what has left by the books, with the provider's fee. */
  readonly orderedKobo: bigint
  readonly kobo: bigint
  /** Kinds of reviews, and when each was closed, in ms. */
  readonly reviews: readonly { readonly kind: string; readonly until: number | null }[]
}

/** What never happens, whenever one looks. */
export async function brokenNow(db: Knex, provider: Provider): Promise<string[]> {
  const { invariants } = await checkBooks(db)
  const rows = await readWithdrawals(db)
  return [
    ...provider.broken,
    ...invariants
      .filter(({ violations }) => violations > 0n)
      .map(({ name }) => `the books do not hold: ${name}`),
    ...(await readDoubles(db)),
    ...rows.flatMap(({ reference, status, resolutions }) => {
      const ends = isFinal(statusMachine, status) ? 1 : 0
      return resolutions === ends
        ? []
        : [`${reference} is ${status}, and its hold has ended ${resolutions} times`]
    }),
  ]
}

/** What must be true once nothing goes wrong any more and operators have done their work. */
export async function brokenAtEnd(db: Knex, provider: Provider, told: Told): Promise<string[]> {
  const [rows, returned, position, open, credited] = [
    await readWithdrawals(db),
    await readReturned(db, told),
    await readPosition(db),
    await countOpen(db),
    await readCredited(db),
  ]
  const { float, collections, inTransit } = position.ngn
  // Money in two places or none is no entry: a review names it, and the loss is known. So is what an operator said was paid or returned.
  const named =
    rows
      .filter((row) => told.resolved.has(row.reference) || isAwayOf(row, provider) === hasMoney(row))
      .reduce((sum, row) => sum + leftKobo(row, provider) - row.kobo, 0n) +
    returned.reduce((sum, { id, kobo }) => sum + refundedKobo(id, provider) - kobo, 0n)
  const ledgerKobo = float + collections + inTransit - named
  return [
    ...rows.flatMap((row) => faultOf(row, provider, told)),
    ...open,
    ...(ledgerKobo === provider.balanceKobo
      ? []
      : [`the ledger has ${ledgerKobo} kobo at the provider, which has ${provider.balanceKobo}`]),
    ...credited.flatMap(({ reference, micro, rate }) => {
      const payments = provider.charges.get(reference)?.payments ?? []
      const kobo = payments.reduce((sum, payment) => sum + payment.kobo, 0n)
      return (micro * rate) / 10n ** 12n <= kobo
        ? []
        : [`${reference} gave ${micro} micro-USDC for ${kobo} kobo`]
    }),
  ]
}

/**
 * The money is away, and the creator has it too; or neither. A review must have said exactly that since. And it happens only when the
 * provider has said two things, or an operator has said what was paid.
 */
function faultOf(row: Row, provider: Provider, told: Told): string[] {
  const { reference, providerReference, status, orderedKobo, reviews } = row
  const transfer = provider.transfers.get(providerReference)
  const [away, has] = [isAwayOf(row, provider), hasMoney(row)]
  if (transfer !== undefined && transfer.amountKobo !== orderedKobo)
    return [`${reference} is of ${orderedKobo} kobo, and the provider was sent ${transfer.amountKobo}`]
  const named = (...kinds: string[]): boolean =>
    reviews.some(
      ({ kind, until }) => kinds.includes(kind) && (until === null || until >= (transfer?.changedAt ?? 0)),
    )
  if (away && has && !named('paid_after_failed', 'paid_after_recredit', 'mismatch'))
    return [`${reference} was paid, and its creator has the money back (${status}), and no review says so`]
  if (!away && !has && !named('reversed', 'failed_after_completed', 'mismatch'))
    return [
      `${reference} was not paid, and its creator does not have the money back (${status}), and no review says so`,
    ]
  if (away && has && !provider.fickle.has(providerReference) && !told.resolved.has(reference))
    return [
      `${reference} was paid, and its creator has the money back (${status}), though the provider said one thing only`,
    ]
  return []
}

/** The creator has the money back. */
const hasMoney = ({ status, recredited }: Row): boolean => status === 'failed' || recredited

function isAwayOf({ providerReference }: Row, { transfers }: Provider): boolean {
  const transfer = transfers.get(providerReference)
  return transfer !== undefined && isAway(transfer)
}

/** What has really left, with the provider's fee. */
function leftKobo(row: Row, provider: Provider): bigint {
  const { amountKobo = 0n } = provider.transfers.get(row.providerReference) ?? {}
  return isAwayOf(row, provider) ? amountKobo + feeKobo : 0n
}

/** What the provider has given back for a refund. */
function refundedKobo(id: string, { refunds }: Provider): bigint {
  return refunds
    .filter(({ note, state }) => note === id && state !== 'failed')
    .reduce((sum, { kobo }) => sum + kobo, 0n)
}

/** Refunds that the books count as gone, and of which an operator said so. */
function readReturned(db: Knex, told: Told): Promise<{ id: string; kobo: bigint }[]> {
  return query(db, {
    name: 'simulate.returned',
    text: `select id, kobo from refunds where status = 'completed' and id = any($1)`,
    values: [[...told.returned]],
  })
}

function readWithdrawals(db: Knex): Promise<Row[]> {
  return query<Row>(db, {
    name: 'simulate.withdrawals',
    text: /* sql */ `
      select w.reference, w.provider_reference as "providerReference", w.status, w.recredited_at is not null as recredited,
        w.net_kobo as "orderedKobo",
        case when w.status = 'completed' and w.recredited_at is null
          then coalesce(w.paid_kobo, w.net_kobo) + w.provider_fee_kobo else 0 end::int8 as kobo,
        coalesce((select json_agg(json_build_object('kind', r.kind, 'until', (extract(epoch from r.resolved_at) * 1000)::float8))
          from review_items r where r.withdrawal_id = w.id), '[]') as reviews,
        (select count(*) from ledger_transfers o join ledger_transfers t on t.resolves = o.id
          where o.idem = 'withdrawal:' || w.reference)::int4 as resolutions
      from withdrawals w order by w.created_at, w.reference`,
  })
}

/** Requests that have made more than one withdrawal. Each request comes from a device of its own. */
async function readDoubles(db: Knex): Promise<string[]> {
  const rows = await query<{ references: string }>(db, {
    name: 'simulate.doubles',
    text: /* sql */ `
      select string_agg(reference, ' and ' order by reference) as references from withdrawals
      group by device_hash having count(*) > 1`,
  })
  return rows.map(({ references }) => `one request has made ${references}`)
}

/** What has not ended. */
export async function countOpen(db: Knex): Promise<string[]> {
  const rows = await query<{ what: string }>(db, {
    name: 'simulate.open',
    text: /* sql */ `
      select reference || ' is ' || status || ', ' || send_state || coalesce(': ' || last_error, '') as what from withdrawals
        where status not in ('completed', 'failed')
      union all select id || ' is ' || status || ', ' || send_state || coalesce(': ' || last_error, '') from refunds
        where status not in ('completed', 'failed')
      union all select 'a review ' || kind || ' of ' || reference || ' is open' from review_items r
        join withdrawals w on w.id = r.withdrawal_id where resolved_at is null`,
  })
  return rows.map(({ what }) => what)
}

/** What each naira intent has given, with its locked rate in units of 10^-8. */
function readCredited(db: Knex) {
  return query<{ reference: string; micro: bigint; rate: bigint }>(db, {
    name: 'simulate.credited',
    text: /* sql */ `
      select f.provider_reference as reference, sum(e.amount)::int8 as micro, (r.value * 100000000)::int8 as rate
      from fiat_intents f join rates r on r.id = f.rate_id
      join ledger_transfers t on t.ref = f.id and t.idem like 'fiatpay:%'
      join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
      where a.user_id is not null and a.currency = 'USDC' group by f.id, r.value`,
  })
}
