import type { Wallet } from '@wallet-standard/base'
import { pause } from '../../../sdk/client/wait.js'
import { isPassing } from '../../lib/failures.js'
import { fromBase64, isSignedBy, toBase64 } from '../../lib/solana.js'
import { connectWallet, signWithWallet } from '../../lib/wallets.js'
import type { Transfer } from '../answers.js'
import { call, codeOf } from '../api.js'
import { askWallet, walletRefusal } from '../parts/wallets.js'

export const transfersPath = '/creators/wallet/transfers'
/** The token mints are mainnet's. A local chain uses the same mints. */
const chain = 'solana:mainnet'
/** Pauses before the same transaction is handed in again. */
const pausesMs = [1000, 2000, 4000, 8000, 8000]

/** Lets the payout wallet sign a take-out. Throws TippingError with a code of the dashboard's own. */
export async function signTransfer(
  wallet: Wallet,
  { wallet: address, transaction }: Pick<Transfer, 'wallet' | 'transaction'>,
): Promise<string> {
  const signed = await askWallet(async () => {
    await connectWallet(wallet)
    const account = wallet.accounts.find((one) => one.address === address)
    if (account === undefined) throw walletRefusal('wallet_other_account')
    if (!account.chains.includes(chain)) throw walletRefusal('wallet_other_network')
    const request = { address, transaction: fromBase64(transaction ?? ''), chain }
    const bytes = await signWithWallet(wallet, 'signTransaction', request)
    if (!isSignedBy(bytes, Uint8Array.from(account.publicKey))) throw walletRefusal('wallet_failed')
    return bytes
  })
  return toBase64(signed)
}

/**
 * Hands in what the wallet has signed. While no answer comes the same bytes are handed in again: a transfer that is signed
 * already is answered as it is.
 */
export async function handIn(id: string, transaction: string): Promise<void> {
  for (const pauseMs of [...pausesMs, undefined])
    try {
      await call('POST', `${transfersPath}/${id}/sign`, { body: { transaction } })
      return
    } catch (error) {
      const mayRepeat = isPassing(error) || codeOf(error) === 'request_in_progress'
      if (pauseMs === undefined || !mayRepeat) throw error
      await pause(pauseMs, undefined)
    }
}
