import type { Security } from '../answers.js'

const ways = ['password', 'code', 'passkey'] as const
type ProofWay = (typeof ways)[number]

/** The current password, a code of the authenticator app, or a passkey, which is asked for when the form is sent. */
export interface OwnerProof {
  readonly way: ProofWay
  readonly text: string
}

export type Factors = Pick<Security, 'hasPassword' | 'totp' | 'passkeys'>

export const codeFaults: readonly string[] = ['invalid_code', 'account_locked']
export const proofFaults: readonly string[] = [...codeFaults, 'invalid_credentials', 'password_required']

/**
 * What the account can prove its owner with, the usual one first; nothing needs a fresh sign-in only. Recovery codes do not
 * count here: nothing says how old they are.
 */
export function proofWays({ hasPassword, totp, passkeys }: Factors): readonly ProofWay[] {
  const has = { password: hasPassword, code: totp, passkey: passkeys > 0 }
  return ways.filter((way) => has[way])
}

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

export interface ClosingForm {
  /** The e-mail address, typed as the second step. */
  readonly typed: string
  readonly proof: OwnerProof
  /** Beside the password: a recovery code, or one of the app. */
  readonly factor: string
  readonly leaveTokens: boolean
}

/** A second factor is enough where there is one; else the password is asked for. */
export function emptyForm({ totp, passkeys }: Factors): ClosingForm {
  const way = totp ? 'code' : passkeys > 0 ? 'passkey' : 'password'
  return { typed: '', proof: { way, text: '' }, factor: '', leaveTokens: false }
}

/** With a factor on, the password alone is not enough. */
export function needsFactor({ proof }: ClosingForm, factors: Factors): boolean {
  return hasFactor(factors) && proofWay(proof, factors) === 'password'
}

/** Whether the proof is more than a password: only then the owner may leave tokens behind. */
export function mayLeaveTokens(factors: Factors): boolean {
  return hasFactor(factors) || !factors.hasPassword
}

export function isConfirmed({ typed }: ClosingForm, email: string): boolean {
  return typed.trim().toLowerCase() === email.toLowerCase()
}

export async function bodyOf(
  form: ClosingForm,
  factors: Factors,
  askForPasskey: () => Promise<object>,
): Promise<Readonly<Record<string, unknown>>> {
  return {
    ...(await currentProof(form.proof, factors, 'password', askForPasskey)),
    ...(needsFactor(form, factors) && { totp: form.factor.trim() }),
    leaveTokens: form.leaveTokens,
  }
}

/** After a refusal: a code works once, so the next try takes a new one. */
export function withoutUsedCodes(form: ClosingForm): ClosingForm {
  const { way, text } = form.proof
  return { ...form, proof: { way, text: way === 'code' ? '' : text }, factor: '' }
}

/** Where a typed code comes from: the mail or the app. */
export type CodeWay = 'code' | 'totp'

/** The same refusal has another remedy for each kind of code. */
export function confirmFault(code: string, way: CodeWay): string {
  if (code === 'invalid_code' && way === 'code') return 'withdrawal_code'
  return code === 'account_locked' ? 'factor_locked' : code
}
