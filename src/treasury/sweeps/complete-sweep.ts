import { verifyMessageSignature } from '../../kernel/ed25519.js'
import type { Services } from '../../services.js'
import { faultOfMessage } from '../custodian/check-message.js'
import { paymentOf } from '../custodian/decide-signing.js'
import { setSent } from './steps.js'
import { readParts, type SweepRow } from './sweep.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'custodyChain' | 'config'>

/**
 * Why the payer must not sign a sweep; undefined when it pays the plan to the treasury and nothing else. The row may have been
 * altered, and the payer's key may hold more than fees.
 */
export async function faultForPayer(
  { db, chain, custodyChain, config }: Needs,
  { id, payer, message }: Pick<SweepRow, 'id' | 'payer' | 'message'>,
): Promise<string | undefined> {
  const parts = await readParts(db, id)
  const destination = config.tips.treasuryWallet
  return faultOfMessage(custodyChain.readMessage(message ?? Buffer.alloc(0)), {
    payer,
    payments: parts.map(({ wallet, ...part }) =>
      paymentOf({ ...part, wallet: wallet ?? undefined, destination }),
    ),
    guards: new Set(),
    associatedAccount: chain.associatedAccount,
  })
}

/**
 * Commits the payer's signature. From now on the transaction may land, so only a caller that got true, or that found it
 * committed, may send the bytes. False: the sweep is in another state.
 */
export async function completeSweep(
  { transact }: Needs,
  { id, payer, message }: Pick<SweepRow, 'id' | 'payer' | 'message'>,
  signature: string,
): Promise<boolean> {
  if (message === null || !(await verifyMessageSignature(payer, message, signature)))
    throw new Error(`the signature is not one of payer ${payer} over sweep ${id}`)
  return transact(async ({ trx, wake }) => {
    wake('custodian')
    return setSent(trx, id, signature)
  })
}

/** The transaction of a sweep that is `sent`: the same bytes each time. Undefined while it is incomplete. */
export function sweepTransaction(
  { custodyChain }: Pick<Needs, 'custodyChain'>,
  { payer, message, signatures, signature }: SweepRow,
): Uint8Array | undefined {
  if (message === null || signatures === null || signature === null) return undefined
  return custodyChain.assemble(message, { ...signatures, [payer]: signature })
}
