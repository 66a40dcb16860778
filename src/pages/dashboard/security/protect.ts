import { TippingError } from '../../../sdk/client/errors.js'

/** The code of an action that the person gave up in a dialog: it failed, but there is nothing to say. */
export const abandoned = 'abandoned'

/** What proves again who is there: nothing after a new sign-in, or a code of the app. It goes into the request's body. */
export type Proof = { readonly totp?: string }

/** Runs an action; when the service wants to know again who is there, a dialog asks, and the action is repeated. */
export type Protect = <Result>(action: (proof: Proof) => Promise<Result>) => Promise<Result>

/** Repeats the action until the service is satisfied or the person gives up. */
export async function runProtected<Result>(
  action: (proof: Proof) => Promise<Result>,
  ask: (fault: string | undefined) => Promise<Proof | undefined>,
): Promise<Result> {
  let proof: Proof = {}
  for (;;) {
    try {
      return await action(proof)
    } catch (error) {
      const code = error instanceof TippingError ? error.code : ''
      const wrongProof = proof.totp !== undefined && (code === 'invalid_code' || code === 'account_locked')
      if (code !== 'reauthentication_required' && !wrongProof) throw error
      const given = await ask(wrongProof ? code : undefined)
      if (given === undefined) throw new TippingError('given up', abandoned, 400)
      proof = given
    }
  }
}
