import { TippingError } from '../../../sdk/client/errors.js'
import { words } from '../../i18n/dashboard.js'
import type { Transfer } from '../answers.js'

/** What the network shows of a complete transaction. `none`: nothing, or not yet. */
export type Seen = 'none' | 'landed' | 'failed'

/**
 * - `sign`: the wallet may still sign; `unsigned`: it did not in time
 * - `sending`, `landed`: on its way, arrived and not final yet
 * - `late`: it did not land in time, and the service has not decided yet
 * - `final`, `failed`, `returned`: over
 */
export type Stage = 'sign' | 'unsigned' | 'sending' | 'landed' | 'late' | 'final' | 'failed' | 'returned'

/** The network's clock and this one differ, and a transaction may land until the last moment. */
const lateMs = 30_000

export function stageOf(
  { status, expiresAt, signedAt }: Pick<Transfer, 'status' | 'expiresAt' | 'signedAt'>,
  seen: Seen | undefined,
  nowMs: number,
): Stage {
  const overMs = nowMs - Date.parse(expiresAt)
  if (status === 'prepared') return overMs < 0 ? 'sign' : 'unsigned'
  if (status === 'expired') return signedAt === null ? 'unsigned' : 'returned'
  if (status !== 'signed') return status
  if (seen === 'landed') return 'landed'
  if (seen === 'failed') return 'failed'
  return overMs > lateMs ? 'late' : 'sending'
}

/** Whether the service's record of it will not change any more. */
export function isOver({ status }: Pick<Transfer, 'status'>): boolean {
  return status === 'final' || status === 'failed' || status === 'expired'
}

/** `1,500.25 BONK`: all digits, unlike amounts elsewhere. */
export function exactAmount({ amount, tokenSymbol }: Pick<Transfer, 'amount' | 'tokenSymbol'>): string {
  const [whole = '0', fraction] = amount.split('.')
  const grouped = BigInt(whole).toLocaleString('en-US')
  return `${grouped}${fraction === undefined ? '' : `.${fraction}`} ${tokenSymbol}`
}

/** Why a take-out was not prepared. The service says what an amount is above, or must leave. */
export function prepareFault(error: unknown): string {
  const { code, details } = error instanceof TippingError ? error : { code: 'unknown', details: [] }
  const problem = details[0]?.problem
  if ((code === 'insufficient_balance' || code === 'invalid_amount') && problem !== undefined)
    return words.takeOut.amountProblem(problem)
  return words.fault(code === 'too_many_requests' ? 'too_many_take_outs' : code)
}

/** Refusals after the wallet has signed have other remedies, as an error code of the dashboard. */
export function signFault(code: string): string {
  const own = ['insufficient_balance', 'service_unavailable', 'request_in_progress', 'network']
  return own.includes(code) ? `sign_${code}` : code
}
