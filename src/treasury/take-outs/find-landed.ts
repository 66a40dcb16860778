import { verifyMessageSignature } from '../../kernel/ed25519.js'
import type { Services } from '../../services.js'
import type { TakeOut } from './take-out.js'

/** Transactions that name a key. Above it somebody floods the key, and a person decides. */
const mostNaming = 200

/**
 * Whether a take-out landed under another signature than the one we know. The payout wallet signs first, so its signature is the
 * transaction's id, and it can make another one of the same message whenever it likes. The network executes a message once, and the
 * key in the payment is named by no other honest transaction. Which signature is one of our message is computed here: an endpoint
 * may show anything as the transaction. `unknown`: too many to tell.
 */
export async function findLanded(
  { custodyChain }: Pick<Services, 'custodyChain'>,
  {
    referenceKey,
    signature,
    message,
    payoutWallet,
  }: Pick<TakeOut, 'referenceKey' | 'signature' | 'message' | 'payoutWallet'>,
): Promise<{ readonly signature: string } | 'none' | 'unknown'> {
  const naming = (await custodyChain.signaturesNaming(referenceKey, mostNaming)).filter(
    (one) => one !== signature,
  )
  for (const one of naming)
    if (await verifyMessageSignature(payoutWallet, message, one)) return { signature: one }
  return naming.length >= mostNaming ? 'unknown' : 'none'
}
