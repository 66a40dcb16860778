import { TippingError } from '../../sdk/client/errors.js'

/** The code of an action that the person gave up in a dialog: it failed, but there is nothing to say. */
export const abandoned = 'abandoned'

/** What proves again who is there: nothing after a new sign-in, or a code of the app. It goes into the request's body. */
export type Proof = { readonly totp?: string }

/** `sign-in`: a code of the app is not asked for in its place. */
export type ProofKind = 'any' | 'sign-in'

/** Runs an action; when the service wants to know again who is there, a dialog asks, and the action is repeated. */
export type Protect = <Result>(action: (proof: Proof) => Promise<Result>, kind?: ProofKind) => Promise<Result>

/** Repeats the action until the service is satisfied or the person gives up. */
export async function runProtected<Result>(
  action: (proof: Proof) => Promise<Result>,
  ask: (fault: string | undefined) => Promise<Proof | undefined>,
  proof: Proof = {},
): Promise<Result> {
  try {
    return await action(proof)
  } catch (error) {
    const refusal = refusalOf(error, proof)
    if (refusal === undefined) throw error
    const given = await ask(refusal.fault)
    if (given === undefined) throw new TippingError('given up', abandoned, 400)
    return runProtected(action, ask, given)
  }
}

/** The refusal of a missing proof, or of this one; undefined: the failure has another reason. */
function refusalOf(error: unknown, { totp }: Proof): { readonly fault: string | undefined } | undefined {
  const code = error instanceof TippingError ? error.code : ''
  if (code === 'reauthentication_required') return { fault: undefined }
  const ofProof = code === 'invalid_code' || code === 'account_locked'
  return totp !== undefined && ofProof ? { fault: code } : undefined
}
