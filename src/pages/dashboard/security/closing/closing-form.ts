import { currentProof, type Factors, hasFactor, type OwnerProof, proofWay } from '../owner-proof.js'

/** What is filled in to close the account. */
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

/** Whether the e-mail address of the account was typed. */
export function isConfirmed({ typed }: ClosingForm, email: string): boolean {
  return typed.trim().toLowerCase() === email.toLowerCase()
}

/** The body of the request. Asks for the passkey when that is the proof. */
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
