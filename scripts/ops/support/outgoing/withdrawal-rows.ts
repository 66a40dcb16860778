import type { Knex } from 'knex'
import { nairaText, usdcText } from '../../../../src/kernel/money.js'
import { sqlList } from '../../../../src/kernel/state-machine.js'
import { maskAccount } from '../../../../src/kernel/text.js'
import { waitsForBreaker } from '../../../../src/outgoing/guards.js'
import { openStatuses } from '../../../../src/outgoing/lifecycle.js'
import { query } from '../../../../src/platform/database/database.js'
import type { Services } from '../../../../src/services.js'
import { openAccount, openName, resolvedContext } from '../../../../src/withdrawals/bank-account.js'
import { type Withdrawal, withdrawalColumns } from '../../../../src/withdrawals/withdrawal.js'
import { waitsForDispute } from '../../../../src/withdrawals/work-queue.js'
import { RefusedError } from '../order.js'
import { formatAge } from '../text.js'
import type { Filter } from './kind.js'

/** A withdrawal as operators see it. Only the last four digits of the bank account are shown. */
export interface PayoutRow extends Withdrawal {
  readonly ageSeconds: number
  readonly accountName: string
  /** The account's name at the bank. Null: not known. */
  readonly resolvedName: string | null
  readonly dueAt: Date | null
  /** How often the provider was asked since the last request to send it. */
  readonly looks: number
  /** Kinds of its open reviews. */
  readonly open: readonly string[]
}

type StoredRow = Omit<PayoutRow, 'accountName' | 'resolvedName'> & { readonly sealedResolved: Buffer | null }
type Needs = Pick<Services, 'db' | 'config'>

function openRow(config: Services['config'], row: StoredRow): PayoutRow {
  const { sealedResolved, ...rest } = row
  return {
    ...rest,
    accountName: openAccount(config, row).accountName,
    resolvedName:
      sealedResolved === null ? null : openName(config, resolvedContext(row.reference), sealedResolved),
  }
}

const columns = /* sql */ `
  ${withdrawalColumns}, extract(epoch from clock_timestamp() - w.created_at)::float8 as "ageSeconds",
  w.sealed_resolved_name as "sealedResolved", w.due_at as "dueAt", w.looks,
  array(select r.kind from review_items r where r.withdrawal_id = w.id and r.resolved_at is null order by r.id) as open`

/** Oldest first. */
export async function listPayouts(
  { db, config }: Needs,
  { state, olderThanSeconds, limit }: Filter,
): Promise<PayoutRow[]> {
  const rows = await query<StoredRow>(db, {
    name: 'ops.list-payouts',
    text: /* sql */ `
      select ${columns} from withdrawals w
      where w.created_at <= clock_timestamp() - $2::float8 * interval '1 second' and case $1
        when 'all' then true
        when 'breaker' then ${waitsForBreaker('w')}
        when 'dispute' then ${waitsForDispute('w')}
        when 'open' then w.status in (${sqlList(openStatuses)})
          or exists (select from review_items r where r.withdrawal_id = w.id and r.resolved_at is null)
        else w.status = $1 or w.send_state = $1 end
      order by w.created_at, w.id limit $3`,
    values: [state, olderThanSeconds, limit],
  })
  return rows.map((row) => openRow(config, row))
}

/** Throws RefusedError when there is no such withdrawal. */
export async function findPayout({ db, config }: Needs, reference: string): Promise<PayoutRow> {
  const [row] = await query<StoredRow>(db, {
    name: 'ops.find-payout',
    text: `select ${columns} from withdrawals w where w.reference = $1`,
    values: [reference],
  })
  if (row === undefined) throw new RefusedError(`there is no withdrawal ${reference}`)
  return openRow(config, row)
}

/** Something that happened to a withdrawal besides a change of its status. */
export interface PayoutHistory {
  readonly at: Date
  readonly what: string
}

/** Reviews that were opened and closed, and what operators did, in order of time. */
export async function listHistory(db: Knex, { id, reference }: PayoutRow): Promise<PayoutHistory[]> {
  const rows = await query<PayoutHistory & { details: ReviewDetails | null }>(db, {
    name: 'ops.payout-history',
    text: /* sql */ `
      select created_at as at, 'review opened: ' || kind as what, details from review_items where withdrawal_id = $1
      union all
      select resolved_at, 'review closed: ' || kind || ': ' || resolution, null
        from review_items where withdrawal_id = $1 and resolved_at is not null
      union all
      select at, action || ' by ' || actor || ' ' || details::text, null from audit_log where subject = $2
      order by at`,
    values: [id, `payout:${reference}`],
  })
  return rows.map(({ at, what, details }) => ({
    at,
    what: `${what}${details ? describeDetails(details) : ''}`,
  }))
}

/** What the provider showed when a review was opened. `kobo`: units of a hundredth of `currency`, naira when it is missing. */
interface ReviewDetails {
  readonly state?: string
  readonly kobo?: string
  readonly currency?: string
  readonly reference?: string
  readonly reason?: string | null
  readonly providerId?: string
  /** Of a review of a debt: who owes. */
  readonly debtors?: string
}

function describeDetails({
  state,
  kobo,
  currency = 'NGN',
  reference,
  reason,
  providerId,
  debtors,
}: ReviewDetails) {
  if (debtors !== undefined) return `: of ${debtors}`
  const amount = kobo === undefined ? undefined : nairaText(BigInt(kobo)).replace('NGN', currency)
  const parts = [state, amount, reference, reason, providerId].filter((part) => typeof part === 'string')
  return parts.length === 0 ? '' : `: the provider showed ${parts.join(', ')}`
}

/** What keeps a withdrawal back that could be sent. */
function waitText({ waitsForDispute, waitsForBreaker, breaker }: PayoutRow): string | null {
  if (waitsForDispute) return 'waits for a dispute or a debt of its creator'
  return waitsForBreaker
    ? `waits for ${breaker === null ? 'payouts to resume' : `the limit ${breaker}`}`
    : null
}

/** One line of a list. */
export function payoutLine(row: PayoutRow): string {
  const amount = nairaText(row.netKobo).padStart(20)
  const waits = waitText(row)
  const problems = [...row.open, ...[waits, row.lastError].filter((text) => text !== null)].join('; ')
  const state = `${row.status}/${row.sendState}`.padEnd(24)
  return `${row.reference}  ${formatAge(row.ageSeconds).padStart(6)}  ${state}${amount}  ${problems}`.trimEnd()
}

/** For programs. */
export function payoutJson({ lastFour, sealedAccount: _, ...row }: PayoutRow): Record<string, unknown> {
  return { ...row, accountNumber: maskAccount(lastFour) }
}

/** For a withdrawal of which another amount was paid than was asked for. */
function paidText({ isResolved, heldMicro }: PayoutRow): string {
  return isResolved ? `, as an operator resolved it; ${usdcText(heldMicro)} were held` : ''
}

/** Everything about one withdrawal, for people. */
export function payoutText(row: PayoutRow, history: readonly PayoutHistory[]): string {
  const moments = [
    ['created', row.createdAt],
    ['submitted', row.submittedAt],
    ['processing', row.processingAt],
    ['completed', row.completedAt],
    ['credited again', row.recreditedAt],
    ['failed', row.failedAt],
  ] as const
  return [
    `${row.reference}  ${row.status}, send state ${row.sendState}`,
    `  provider reference    ${row.providerReference}`,
    `  creator               ${row.userId}`,
    `  amount                ${nairaText(row.netKobo)} after a fee of ${nairaText(row.feeKobo)}; ${usdcText(row.debitMicro)}${paidText(row)}`,
    `  to                    bank ${row.bankCode}, account ${maskAccount(row.lastFour)}, ${row.accountName}`,
    `  name at the bank      ${row.resolvedName ?? 'not known'}`,
    `  requests sent         ${row.sends}${row.lastError === null ? '' : `, last error: ${row.lastError}`}`,
    `  next check            ${row.dueAt?.toISOString() ?? 'none'}`,
    ...(waitText(row) === null ? [] : [`  ${waitText(row)}`]),
    ...(row.failureReason === null ? [] : [`  failure reason        ${row.failureReason}`]),
    ...(row.open.length === 0 ? [] : [`  OPEN REVIEWS          ${row.open.join(', ')}`]),
    ...moments.flatMap(([what, at]) => (at === null ? [] : [`  ${at.toISOString()}  ${what}`])),
    ...history.map(({ at, what }) => `  ${at.toISOString()}  ${what}`),
  ].join('\n')
}
