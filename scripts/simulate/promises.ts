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
  /** What has left by the books, with the provider's fee. */
  readonly kobo: bigint
  /** Kinds of reviews, and when each was closed, in ms. */
  readonly reviews: readonly { readonly kind: string; readonly until: number | null }[]
}

/** What never happens, whenever one looks. */
export async function brokenNow(db: Knex, provider: Provider, told: Told): Promise<string[]> {
  const { invariants } = await checkBooks(db)
  const rows = await readWithdrawals(db)
  return [
    ...provider.broken,
    ...invariants
      .filter(({ violations }) => violations > 0n)
      .map(({ name }) => `the books do not hold: ${name}`),
    ...[...told.answers.values()]
      .filter((references) => references.size > 1)
      .map((references) => `one request was answered with ${[...references].join(' and ')}`),
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
  const [rows, position, open, credited] = [
    await readWithdrawals(db),
    await readPosition(db),
    await countOpen(db),
    await readCredited(db),
  ]
  const { float, collections, inTransit } = position.ngn
  // A payment after the money was given back is no entry: its review names it, and the loss is known.
  const named = rows.reduce((sum, row) => sum + leftKobo(row, provider) - row.kobo, 0n)
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
function faultOf(
  { reference, providerReference, status, recredited, reviews }: Row,
  provider: Provider,
  told: Told,
): string[] {
  const transfer = provider.transfers.get(providerReference)
  const away = transfer !== undefined && isAway(transfer)
  const has = status === 'failed' || recredited
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

/** What has really left, with the provider's fee. */
function leftKobo({ providerReference }: Row, { transfers }: Provider): bigint {
  const transfer = transfers.get(providerReference)
  return transfer !== undefined && isAway(transfer) ? transfer.amountKobo + feeKobo : 0n
}

function readWithdrawals(db: Knex): Promise<Row[]> {
  return query<Row>(db, {
    name: 'simulate.withdrawals',
    text: /* sql */ `
      select w.reference, w.provider_reference as "providerReference", w.status, w.recredited_at is not null as recredited,
        case when w.status = 'completed' and w.recredited_at is null
          then coalesce(w.paid_kobo, w.net_kobo) + w.provider_fee_kobo else 0 end::int8 as kobo,
        coalesce((select json_agg(json_build_object('kind', r.kind, 'until', (extract(epoch from r.resolved_at) * 1000)::float8))
          from review_items r where r.withdrawal_id = w.id), '[]') as reviews,
        (select count(*) from ledger_transfers o join ledger_transfers t on t.resolves = o.id
          where o.idem = 'withdrawal:' || w.reference)::int4 as resolutions
      from withdrawals w order by w.created_at, w.reference`,
  })
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
