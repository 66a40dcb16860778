import type { HeldFor, Payout } from '../answers.js'

/** What a withdrawal waits for. One that is over waits for nothing. */
export function holdOf({ status, heldFor }: Pick<Payout, 'status' | 'heldFor'>): HeldFor | undefined {
  return status === 'pending' ? (heldFor ?? undefined) : undefined
}

/** Whether its creator took it back: then nothing has gone wrong. */
export function isCancelled({ status, failureReason }: Pick<Payout, 'status' | 'failureReason'>): boolean {
  return status === 'failed' && failureReason === 'Cancelled by the creator'
}

/** The same refusal has another remedy for each kind of code. */
export function confirmFault(code: string, way: 'code' | 'totp'): string {
  if (code === 'invalid_code' && way === 'code') return 'withdrawal_code'
  return code === 'account_locked' ? 'factor_locked' : code
}
