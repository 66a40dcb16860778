import type { Security } from '../answers.js'

/** The current password, or a code of the authenticator app. */
export interface OwnerProof {
  readonly way: 'password' | 'app'
  readonly text: string
}

export type Factors = Pick<Security, 'hasPassword' | 'totp'>

/** The way that is shown: an account without a password has only the app, and one without both needs no proof here. */
export function proofWay({ way }: OwnerProof, { hasPassword, totp }: Factors): OwnerProof['way'] | undefined {
  if (!totp) return hasPassword ? 'password' : undefined
  return hasPassword ? way : 'app'
}

/** The proof for a request's body. `passwordField`: what the endpoint calls the current password. */
export function currentProof(
  proof: OwnerProof,
  factors: Factors,
  passwordField: 'currentPassword' | 'password',
): Readonly<Record<string, string>> {
  const way = proofWay(proof, factors)
  if (way === undefined) return {}
  return { [way === 'app' ? 'totp' : passwordField]: proof.text }
}
