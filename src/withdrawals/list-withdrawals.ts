import { csvText } from '../http/csv.js'
import { pageOf, timePosition, timePositionFrom } from '../http/paging.js'
import { DomainError } from '../kernel/errors.js'
import { displayNumber } from '../kernel/money.js'
import { maskAccount } from '../kernel/text.js'
import { queryInIndexOrder } from '../platform/database/index-order.js'
import { readsOf } from '../platform/database/read-pool.js'
import type { Services } from '../services.js'
import { openAccount } from './bank-account.js'
import type { HistoryInput, PayoutRecord } from './schemas.js'
import { heldFor, type Withdrawal, withdrawalColumns } from './withdrawal.js'

export interface WithdrawalPage {
  readonly payouts: PayoutRecord[]
  /** The position of the next page: the last withdrawal of this page. Undefined on the last page. */
  readonly next: string | undefined
}

type Needs = Pick<Services, 'reads' | 'config'>

/** Fills the id of the position when there is no cursor. Any id will do: the time is later than every row's. */
const anyId = '00000000-0000-0000-0000-000000000000'

/**
 * A creator's withdrawals, newest first. Reads one row more than the page, to know whether there is a next page. Each status has
 * its range of an index, so a filter has its own statement (docs/decisions/0024).
 */
export async function listWithdrawals(
  { reads, config }: Needs,
  userId: string,
  { reference, status, cursor, limit }: Pick<HistoryInput, 'reference' | 'status' | 'cursor' | 'limit'>,
): Promise<WithdrawalPage> {
  const [beforeMs, beforeId] = timePositionFrom(cursor, anyId)
  const filters = { reference: reference?.toUpperCase(), status }
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  const statement = {
    name: ['payouts.history', ...given.map(([column]) => column)].join('.'),
    text: /* sql */ `
      select ${withdrawalColumns} from withdrawals w
      where w.user_id = $1
        and (w.created_at, w.id) < ('epoch'::timestamptz + $2::float8 * interval '1 ms', $3::uuid)
        ${given.map(([column], index) => `and w.${column} = $${index + 5}`).join(' ')}
      order by w.created_at desc, w.id desc limit $4`,
    values: [userId, beforeMs, beforeId, limit + 1, ...given.map(([, value]) => value)],
  }
  const rows = await reads((db) => queryInIndexOrder<Withdrawal>(db, statement))
  const { page, last } = pageOf(rows, limit)
  return {
    payouts: page.map((row) => presentPayout(config, row)),
    next: last && timePosition(last.createdAt, last.id),
  }
}

/** One of the creator's withdrawals, as the list has it. Read on the primary: it is answered to who has just changed it. */
export async function findWithdrawal(
  { db, config }: Pick<Services, 'db' | 'config'>,
  userId: string,
  reference: string,
): Promise<PayoutRecord> {
  const one = { reference, status: undefined, cursor: undefined, limit: 1 }
  const [payout] = (await listWithdrawals({ reads: readsOf(db), config }, userId, one)).payouts
  if (payout === undefined) throw new DomainError('withdrawal_not_found')
  return payout
}

function presentPayout(config: Services['config'], withdrawal: Withdrawal): PayoutRecord {
  const { reference, status, currency, bankCode, bankName, failureReason } = withdrawal
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
    accountNumber: maskAccount(withdrawal.lastFour),
    accountName: openAccount(config, withdrawal).accountName,
    requiresVerification: heldFor(withdrawal) === 'identity',
    heldFor: heldFor(withdrawal),
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

export function payoutsCsv(payouts: readonly PayoutRecord[]): string {
  return csvText(
    csvColumns,
    payouts.map((payout) => csvColumns.map((column) => payout[column])),
  )
}
