import { csvText } from '../http/csv.js'
import { displayNumber } from '../kernel/money.js'
import type { Balance } from './accounts.js'
import type { Transaction } from './schemas.js'
import type { StatementLine } from './statement.js'

const usdcDecimals = 6

/** What is owed and what is disputed are shown only when there is any. */
export function presentBalance(
  { available, pending, held }: Balance,
  { owed, disputed }: { readonly owed: bigint; readonly disputed: bigint },
) {
  return {
    availableUSDC: inUsdc(available),
    pendingUSDC: inUsdc(pending),
    heldUSDC: inUsdc(held),
    ...(owed > 0n && { owedUSDC: inUsdc(owed) }),
    ...(disputed > 0n && { disputedUSDC: inUsdc(disputed) }),
  }
}

export function presentTransaction(line: StatementLine): Transaction {
  return {
    id: String(line.id),
    timestamp: line.createdAt.toISOString(),
    account: line.account,
    type: line.kind,
    reference: line.ref,
    amountUSDC: inUsdc(line.amount),
    balanceAfterUSDC: inUsdc(line.balanceAfter),
    availableAt: line.availableAt?.toISOString() ?? null,
  }
}

export function transactionsCsv(transactions: readonly Transaction[]): string {
  const header = [
    'id',
    'timestamp',
    'account',
    'type',
    'reference',
    'amountUSDC',
    'balanceAfterUSDC',
    'availableAt',
  ] as const
  return csvText(
    header,
    transactions.map((transaction) => header.map((field) => transaction[field])),
  )
}

function inUsdc(units: bigint): number {
  return displayNumber(units, usdcDecimals)
}
