import type { SessionDescription, TipIntent } from '../../sdk/client/tip.js'
import { RpcRefusal, sendTransaction } from '../lib/rpc.js'
import { firstSignature, fromBase64, isSignedBy, toBase58 } from '../lib/solana.js'
import type { Account } from '../lib/wallets.js'
import { detailOf, sendFault, surelyUnsent, type Thrown, walletFault } from './machine/faults.js'
import type { Fault } from './machine/state.js'
import type { PayWallet } from './wallet-book.js'

/** What became of a payment in the wallet and at the endpoint. */
export type Paid =
  /** `signed` is there when this page sent it, and may send it again. */
  | { readonly sent: true; readonly signature: string | null; readonly signed?: Uint8Array }
  | { readonly sent: false; readonly fault: Fault; readonly detail: string }

const local = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** Where this page sends a signed transaction of this intent. */
export function endpointFor({ rpcUrl, bundleRpcUrl }: SessionDescription, intent: TipIntent): string | null {
  return intent.executionMode === 'async' ? (bundleRpcUrl ?? rpcUrl) : rpcUrl
}

/**
 * Lets the wallet sign and send, which it can show best; the page sends by itself what goes to an endpoint for bundles or
 * to a chain of this machine, and what a wallet can only sign. `wanted`: asked before anything is sent.
 */
export async function payWith(
  wallet: PayWallet,
  account: Account,
  intent: TipIntent,
  session: SessionDescription,
  wanted: () => boolean,
): Promise<Paid | undefined> {
  const url = endpointFor(session, intent)
  const sends = wallet.features.includes('solana:signAndSendTransaction')
  const signs = wallet.features.includes('solana:signTransaction')
  const itself =
    intent.executionMode === 'async' || !sends || (url !== null && local.test(new URL(url).hostname))
  const transaction = fromBase64(intent.transaction)
  if (itself && signs && url !== null)
    return signAndSend(wallet, account, { transaction, url, chain: session.chain, wanted })
  try {
    const signature = await wallet.use('signAndSendTransaction', account.address, transaction, session.chain)
    return { sent: true, signature: signature.length === 64 ? toBase58(signature) : null }
  } catch (error) {
    const fault = walletFault(error as Thrown)
    const unsent = { sent: false, fault, detail: detailOf(error as Thrown) } as const
    return surelyUnsent(fault) ? unsent : { sent: true, signature: null }
  }
}

async function signAndSend(
  wallet: PayWallet,
  { address, publicKey }: Account,
  {
    transaction,
    url,
    chain,
    wanted,
  }: { transaction: Uint8Array; url: string; chain: string; wanted: () => boolean },
): Promise<Paid | undefined> {
  let signed: Uint8Array
  try {
    signed = await wallet.use('signTransaction', address, transaction, chain)
  } catch (error) {
    return { sent: false, fault: walletFault(error as Thrown), detail: detailOf(error as Thrown) }
  }
  if (!wanted()) return undefined
  // It came through other hands: at least it is signed by whom it was asked from.
  if (!isSignedBy(signed, publicKey))
    return { sent: false, fault: 'failed', detail: 'The wallet did not sign it.' }
  const signature = toBase58(firstSignature(signed))
  try {
    await sendTransaction(url, signed, false)
  } catch (error) {
    if (error instanceof RpcRefusal) return { sent: false, fault: sendFault(error), detail: detailOf(error) }
  }
  return { sent: true, signature, signed }
}
