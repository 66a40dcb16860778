import type { Knex } from 'knex'
import { displayText } from '../../../src/kernel/money.js'
import { query } from '../../../src/platform/database/database.js'
import { sendStates, withdrawalStatuses } from '../../../src/withdrawals/lifecycle.js'
import { maskAccount, type Withdrawal, withdrawalColumns } from '../../../src/withdrawals/withdrawal.js'
import { RefusedError, UsageError } from './command.js'
import { formatAge } from './format-age.js'

/** A withdrawal as operators see it. Only the last four digits of the bank account are shown. */
export interface PayoutRow extends Withdrawal {
  readonly ageSeconds: number
  readonly resolvedName: string | null
  readonly dueAt: Date | null
  /** How often the provider was asked since the last request to send it. */
  readonly looks: number
  /** Kinds of its open reviews. */
  readonly open: readonly string[]
}

export interface PayoutFilter {
  /** A status, a send state, `all`, or `open`: not at its end, or with an open review. */
  readonly state: string
  readonly olderThanSeconds: number
  readonly limit: number
}

const listStates: readonly string[] = ['open', 'all', ...withdrawalStatuses, ...sendStates]

const columns = /* sql */ `
  ${withdrawalColumns}, extract(epoch from clock_timestamp() - w.created_at)::float8 as "ageSeconds",
  w.resolved_name as "resolvedName", w.due_at as "dueAt", w.looks,
  array(select r.kind from review_items r where r.withdrawal_id = w.id and r.resolved_at is null order by r.id) as open`

/** Oldest first. Throws UsageError when there is no such state. */
export function listPayouts(
  db: Knex,
  { state, olderThanSeconds, limit }: PayoutFilter,
): Promise<PayoutRow[]> {
  if (!listStates.includes(state)) throw new UsageError(`--state needs one of ${listStates.join(', ')}`)
  return query<PayoutRow>(db, {
    name: 'ops.list-payouts',
    text: /* sql */ `
      select ${columns} from withdrawals w
      where w.created_at <= clock_timestamp() - $2::float8 * interval '1 second' and case $1
        when 'all' then true
        when 'open' then w.status in ('pending', 'submitted', 'processing')
          or exists (select from review_items r where r.withdrawal_id = w.id and r.resolved_at is null)
        else w.status = $1 or w.send_state = $1 end
      order by w.created_at, w.id limit $3`,
    values: [state, olderThanSeconds, limit],
  })
}

/** Throws RefusedError when there is no such withdrawal. */
export async function findPayout(db: Knex, reference: string): Promise<PayoutRow> {
  const [row] = await query<PayoutRow>(db, {
    name: 'ops.find-payout',
    text: `select ${columns} from withdrawals w where w.reference = $1`,
    values: [reference],
  })
  if (row === undefined) throw new RefusedError(`there is no withdrawal ${reference}`)
  return row
}

/** Something that happened to a withdrawal besides a change of its status. */
export interface PayoutHistory {
  readonly at: Date
  readonly what: string
}

/** Reviews that were opened and closed, and what operators did, in order of time. */
export function listHistory(db: Knex, { id, reference }: PayoutRow): Promise<PayoutHistory[]> {
  return query<PayoutHistory>(db, {
    name: 'ops.payout-history',
    text: /* sql */ `
      select created_at as at, 'review opened: ' || kind || ' ' || details::text as what
        from review_items where withdrawal_id = $1
      union all
      select resolved_at, 'review closed: ' || kind || ': ' || resolution
        from review_items where withdrawal_id = $1 and resolved_at is not null
      union all
      select at, action || ' by ' || actor || ' ' || details::text from audit_log where subject = $2
      order by at`,
    values: [id, `payout:${reference}`],
  })
}

/** One line of a list. */
export function payoutLine(row: PayoutRow): string {
  const amount = `NGN ${displayText(row.netKobo, 2)}`.padStart(18)
  const problems = [...row.open, ...(row.lastError === null ? [] : [row.lastError])].join('; ')
  const state = `${row.status}/${row.sendState}`.padEnd(24)
  return `${row.reference}  ${formatAge(row.ageSeconds).padStart(6)}  ${state}${amount}  ${problems}`.trimEnd()
}

/** For programs; amounts are base units as decimal text. */
export function payoutJson(row: PayoutRow): Record<string, unknown> {
  const { debitMicro, grossKobo, feeKobo, netKobo, accountNumber, ...rest } = row
  return {
    ...rest,
    debitMicro: String(debitMicro),
    grossKobo: String(grossKobo),
    feeKobo: String(feeKobo),
    netKobo: String(netKobo),
    accountNumber: maskAccount(accountNumber),
  }
}

/** Everything about one withdrawal, for people. */
export function payoutText(row: PayoutRow, history: readonly PayoutHistory[]): string {
  const moments = [
    ['created', row.createdAt],
    ['submitted', row.submittedAt],
    ['processing', row.processingAt],
    ['completed', row.completedAt],
    ['failed', row.failedAt],
  ] as const
  return [
    `${row.reference}  ${row.status}, send state ${row.sendState}`,
    `  provider reference    ${row.providerReference}`,
    `  creator               ${row.userId}`,
    `  amount                NGN ${displayText(row.netKobo, 2)} after a fee of NGN ${displayText(row.feeKobo, 2)}; ${displayText(row.debitMicro, 6)} USDC`,
    `  to                    bank ${row.bankCode}, account ${maskAccount(row.accountNumber)}, ${row.accountName}`,
    `  name at the bank      ${row.resolvedName ?? 'not known'}`,
    `  requests sent         ${row.sends}${row.lastError === null ? '' : `, last error: ${row.lastError}`}`,
    `  next check            ${row.dueAt?.toISOString() ?? 'none'}`,
    ...(row.failureReason === null ? [] : [`  failure reason        ${row.failureReason}`]),
    ...(row.open.length === 0 ? [] : [`  OPEN REVIEWS          ${row.open.join(', ')}`]),
    ...moments.flatMap(([what, at]) => (at === null ? [] : [`  ${at.toISOString()}  ${what}`])),
    ...history.map(({ at, what }) => `  ${at.toISOString()}  ${what}`),
  ].join('\n')
}
