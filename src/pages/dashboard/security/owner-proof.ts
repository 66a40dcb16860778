import type { Security } from '../answers.js'

const ways = ['password', 'code', 'passkey'] as const
type ProofWay = (typeof ways)[number]

/** The current password, a code of the authenticator app, or a passkey, which is asked for when the form is sent. */
export interface OwnerProof {
  readonly way: ProofWay
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

/**
 * What the account can prove its owner with, the usual one first; nothing needs a fresh sign-in only. Recovery codes do not
 * count here: nothing says how old they are.
 */
export function proofWays({ hasPassword, totp, passkeys }: Factors): readonly ProofWay[] {
  const has = { password: hasPassword, code: totp, passkey: passkeys > 0 }
  return ways.filter((way) => has[way])
}

/** Whether the account has a second factor. */
export function hasFactor({ totp, passkeys }: Factors): boolean {
  return totp || passkeys > 0
}

/** The way that is shown: the one that was chosen, if the account has it. */
export function proofWay({ way }: OwnerProof, factors: Factors): ProofWay | undefined {
  const possible = proofWays(factors)
  return possible.includes(way) ? way : possible[0]
}

/** The proof for a request's body. `passwordField`: what the endpoint calls the current password. */
export async function currentProof(
  proof: OwnerProof,
  factors: Factors,
  passwordField: 'currentPassword' | 'password',
  askForPasskey: () => Promise<object>,
): Promise<Readonly<Record<string, unknown>>> {
  const way = proofWay(proof, factors)
  if (way === undefined) return {}
  if (way === 'passkey') return { ...(await askForPasskey()) }
  return { [way === 'code' ? 'totp' : passwordField]: proof.text }
}
