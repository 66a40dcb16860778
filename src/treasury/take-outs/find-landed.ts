import { hash } from 'node:crypto'
import type { Services } from '../../services.js'
import type { TakeOut } from './take-out.js'

/** Transactions that name a key. Above it somebody floods the key, and a person decides. */
const mostNaming = 200

/**
 * Whether a take-out landed under another signature than the one we know. The payout wallet signs first, so its signature is the
 * transaction's id, and it can make another one of the same message whenever it likes. The network executes a message once, and the
 * key in the payment is named by no other honest transaction. `unknown`: too many to tell, or not readable yet.
 */
export async function findLanded(
  { chain, custodyChain }: Pick<Services, 'chain' | 'custodyChain'>,
  { referenceKey, signature, message }: Pick<TakeOut, 'referenceKey' | 'signature' | 'message'>,
): Promise<{ readonly signature: string } | 'none' | 'unknown'> {
  const naming = (await custodyChain.signaturesNaming(referenceKey, mostNaming)).filter(
    (one) => one !== signature,
  )
  if (naming.length === 0) return 'none'
  if (naming.length >= mostNaming) return 'unknown'
  const transactions = await chain.transactions(naming)
  const wanted = hash('sha256', message, 'hex')
  const landed = naming.find((one) => transactions.get(one)?.messageHash === wanted)
  if (landed !== undefined) return { signature: landed }
  return naming.every((one) => transactions.has(one)) ? 'none' : 'unknown'
}
