import type { HeldFor, Payout } from '../../answers.js'

/** What a withdrawal waits for. A service of before names only the identity hold. */
export function holdOf({
  status,
  heldFor,
  requiresVerification,
}: Pick<Payout, 'status' | 'heldFor' | 'requiresVerification'>): HeldFor | undefined {
  if (status !== 'pending') return undefined
  return heldFor ?? (requiresVerification ? 'identity' : undefined)
}

/** The same refusal has another remedy for each kind of code. */
export function confirmFault(code: string, way: 'code' | 'totp'): string {
  if (code === 'invalid_code' && way === 'code') return 'withdrawal_code'
  return code === 'account_locked' ? 'factor_locked' : code
}
