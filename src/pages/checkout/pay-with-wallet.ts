import { encodeBase58 } from '../../kernel/base58.js'
import type { SessionDescription, TipIntent } from '../../sdk/client/tip.js'
import { RpcError, sendTransaction } from '../lib/rpc.js'
import { firstSignature, fromBase64, isSignedBy } from '../lib/solana.js'
import { detailOf, type Thrown, walletFault } from '../lib/wallet-faults.js'
import type { Account } from '../lib/wallets.js'
import { provesNotSent, sendFault } from './flow/pay.js'
import type { Fault } from './machine/state.js'
import type { PayWallet } from './wallets.js'

type PaymentResult =
  /** `signed`: the transaction, when this page sent it and may send it again. */
  | { readonly sent: true; readonly signature: string | null; readonly signed?: Uint8Array }
  | { readonly sent: false; readonly fault: Fault; readonly detail: string }

const local = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** The RPC endpoint for a signed transaction of this intent. */
export function rpcEndpointFor(
  { rpcUrl, bundleRpcUrl }: SessionDescription,
  intent: TipIntent,
): string | null {
  return intent.executionMode === 'async' ? (bundleRpcUrl ?? rpcUrl) : rpcUrl
}

/**
 * Lets the wallet sign and send. The page sends the transaction itself when it must go to a bundle endpoint or to a local
 * chain, or when the wallet can only sign. `isWanted` is checked before the page sends; undefined when it returns false.
 */
export async function payWith(
  wallet: PayWallet,
  account: Account,
  intent: TipIntent,
  session: SessionDescription,
  isWanted: () => boolean,
): Promise<PaymentResult | undefined> {
  const url = rpcEndpointFor(session, intent)
  const sends = wallet.features.includes('solana:signAndSendTransaction')
  const signs = wallet.features.includes('solana:signTransaction')
  const pageSends =
    intent.executionMode === 'async' || !sends || (url !== null && local.test(new URL(url).hostname))
  const transaction = fromBase64(intent.transaction)
  if (pageSends && signs && url !== null)
    return signAndSend(wallet, account, { transaction, url, chain: session.chain, isWanted })
  try {
    const signature = await wallet.sign('signAndSendTransaction', account.address, transaction, session.chain)
    return { sent: true, signature: signature.length === 64 ? encodeBase58(signature) : null }
  } catch (error) {
    const fault = walletFault(error as Thrown)
    const notSent = { sent: false, fault, detail: detailOf(error as Thrown) } as const
    return provesNotSent(fault) ? notSent : { sent: true, signature: null }
  }
}

async function signAndSend(
  wallet: PayWallet,
  { address, publicKey }: Account,
  {
    transaction,
    url,
    chain,
    isWanted,
  }: { transaction: Uint8Array; url: string; chain: string; isWanted: () => boolean },
): Promise<PaymentResult | undefined> {
  let signed: Uint8Array
  try {
    signed = await wallet.sign('signTransaction', address, transaction, chain)
  } catch (error) {
    return { sent: false, fault: walletFault(error as Thrown), detail: detailOf(error as Thrown) }
  }
  if (!isWanted()) return undefined
  // A relayed wallet's answer passed through the embedding page: check that the right account signed.
  if (!isSignedBy(signed, publicKey))
    return { sent: false, fault: 'failed', detail: 'The wallet did not sign it.' }
  const signature = encodeBase58(firstSignature(signed))
  try {
    await sendTransaction(url, signed, false)
  } catch (error) {
    if (error instanceof RpcError) return { sent: false, fault: sendFault(error), detail: detailOf(error) }
  }
  return { sent: true, signature, signed }
}
