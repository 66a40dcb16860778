import { csvText } from '../http/csv.js'
import { displayNumber } from '../kernel/money.js'
import type { PayoutRecord, WithdrawAnswer } from './schemas.js'
import type { Withdrawal } from './withdrawal.js'

const provider = 'fiatpay'
const usdc = (micro: bigint): number => displayNumber(micro, 6)
const ngn = (kobo: bigint): number => displayNumber(kobo, 2)

export function presentWithdrawal(withdrawal: Withdrawal, status: 'pending' | 'submitted'): WithdrawAnswer {
  const { reference, currency, netKobo, feeKobo, debitMicro, sendState } = withdrawal
  return {
    provider,
    reference,
    status,
    amountNGN: ngn(netKobo),
    systemFeeNGN: ngn(feeKobo),
    ...(currency === 'USDC' ? { amountUSDC: usdc(debitMicro) } : {}),
    currency,
    requiresVerification: sendState === 'identity_hold',
  }
}

/** A withdrawal as its owner sees it in the history. */
export function presentPayout(withdrawal: Withdrawal & { readonly bankName: string | null }): PayoutRecord {
  const { reference, status, currency, bankCode, bankName, accountName, failureReason } = withdrawal
  return {
    reference,
    provider,
    status,
    currency,
    amountNGN: ngn(withdrawal.netKobo),
    systemFeeNGN: ngn(withdrawal.feeKobo),
    amountUSDC: usdc(withdrawal.debitMicro),
    bankCode,
    bankName,
    accountNumber: maskAccount(withdrawal.accountNumber),
    accountName,
    requiresVerification: withdrawal.sendState === 'identity_hold',
    failureReason,
    createdAt: withdrawal.createdAt.toISOString(),
    submittedAt: moment(withdrawal.submittedAt),
    processingAt: moment(withdrawal.processingAt),
    completedAt: moment(withdrawal.completedAt),
    failedAt: moment(withdrawal.failedAt),
  }
}

/** `0123456789` as `******6789`. */
export function maskAccount(accountNumber: string): string {
  return accountNumber.slice(-4).padStart(accountNumber.length, '*')
}

function moment(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

const columns = [
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
] as const satisfies readonly (keyof PayoutRecord)[]

/** The page as a CSV file. */
export function payoutsCsv(payouts: readonly PayoutRecord[]): string {
  return csvText(
    columns,
    payouts.map((payout) => columns.map((column) => payout[column])),
  )
}
