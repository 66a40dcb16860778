import type { Knex } from 'knex'
import { csvText } from '../http/csv.js'
import { pageOf, timePosition, timePositionFrom } from '../http/paging.js'
import { displayNumber } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import type { HistoryInput, PayoutRecord } from './schemas.js'
import { maskAccount, type Withdrawal, withdrawalColumns } from './withdrawal.js'

export interface WithdrawalPage {
  readonly payouts: PayoutRecord[]
  /** The position of the next page: the last withdrawal of this page. Undefined on the last page. */
  readonly next: string | undefined
}

type WithdrawalRow = Withdrawal & { readonly bankName: string | null }

/** Fills the id of the position when there is no cursor. Any id will do: the time is later than every row's. */
const anyId = '00000000-0000-0000-0000-000000000000'

/** A creator's withdrawals, newest first. Reads one row more than the page, to know whether there is a next page. */
export async function listWithdrawals(
  db: Knex,
  userId: string,
  { reference, status, cursor, limit }: HistoryInput,
): Promise<WithdrawalPage> {
  const [beforeMs, beforeId] = timePositionFrom(cursor, anyId)
  const rows = await query<WithdrawalRow>(db, {
    name: 'payouts.history',
    text: /* sql */ `
      select ${withdrawalColumns}, b.name as "bankName"
      from withdrawals w left join banks b on b.code = w.bank_code
      where w.user_id = $1
        and (w.created_at, w.id) < ('epoch'::timestamptz + $2::float8 * interval '1 ms', $3::uuid)
        and ($4::text is null or w.reference = $4) and ($5::text is null or w.status = $5)
      order by w.created_at desc, w.id desc limit $6`,
    values: [userId, beforeMs, beforeId, reference?.toUpperCase() ?? null, status ?? null, limit + 1],
  })
  const { page, last } = pageOf(rows, limit)
  return { payouts: page.map(presentPayout), next: last && timePosition(last.createdAt, last.id) }
}

function presentPayout(withdrawal: WithdrawalRow): PayoutRecord {
  const { reference, status, currency, bankCode, bankName, accountName, failureReason } = withdrawal
  return {
    reference,
    provider: 'fiatpay',
    status,
    currency,
    amountNGN: displayNumber(withdrawal.netKobo, 2),
    promisedNGN: displayNumber(withdrawal.promisedKobo, 2),
    systemFeeNGN: displayNumber(withdrawal.feeKobo, 2),
    amountUSDC: displayNumber(withdrawal.debitMicro, 6),
    bankCode,
    bankName,
    accountNumber: maskAccount(withdrawal.accountNumber),
    accountName,
    requiresVerification: withdrawal.sendState === 'identity_hold',
    failureReason,
    createdAt: withdrawal.createdAt.toISOString(),
    submittedAt: isoTime(withdrawal.submittedAt),
    processingAt: isoTime(withdrawal.processingAt),
    completedAt: isoTime(withdrawal.completedAt),
    failedAt: isoTime(withdrawal.failedAt),
  }
}

function isoTime(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

const csvColumns = [
  'reference',
  'createdAt',
  'status',
  'currency',
  'amountNGN',
  'systemFeeNGN',
  'amountUSDC',
  'bankCode',
  'bankName',
  'accountNumber',
  'accountName',
  'failureReason',
  'submittedAt',
  'processingAt',
  'completedAt',
  'failedAt',
  'promisedNGN',
] as const satisfies readonly (keyof PayoutRecord)[]

/** The page as a CSV file. */
export function payoutsCsv(payouts: readonly PayoutRecord[]): string {
  return csvText(
    csvColumns,
    payouts.map((payout) => csvColumns.map((column) => payout[column])),
  )
}
