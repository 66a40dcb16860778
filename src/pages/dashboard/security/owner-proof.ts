import type { Security } from '../answers.js'

/** The current password, or a code of the authenticator app or a recovery code. */
export interface OwnerProof {
  readonly way: 'password' | 'code'
  readonly text: string
}

export type Factors = Pick<Security, 'hasPassword' | 'totp' | 'passkeys'>

/** The error codes of a refused proof. */
export const proofFaults: readonly string[] = [
  'invalid_credentials',
  'invalid_code',
  'password_required',
  'account_locked',
]

/** Whether the account has a second factor, and with it recovery codes. */
export function hasFactor({ totp, passkeys }: Factors): boolean {
  return totp || passkeys > 0
}

/** The way that is shown. An account with neither a password nor a factor needs no proof but a fresh sign-in. */
export function proofWay({ way }: OwnerProof, factors: Factors): OwnerProof['way'] | undefined {
  if (!hasFactor(factors)) return factors.hasPassword ? 'password' : undefined
  return factors.hasPassword ? way : 'code'
}

/** The proof for a request's body. `passwordField`: what the endpoint calls the current password. */
export function currentProof(
  proof: OwnerProof,
  factors: Factors,
  passwordField: 'currentPassword' | 'password',
): Readonly<Record<string, string>> {
  const way = proofWay(proof, factors)
  if (way === undefined) return {}
  return { [way === 'code' ? 'totp' : passwordField]: proof.text }
}
