import type { Wallet } from '@wallet-standard/base'
import { useEffect, useState } from 'preact/hooks'
import { displayText } from '../../../kernel/money.js'
import { isPassing, untilAnswered } from '../../lib/failures.js'
import { networkFee, openingCost, sendTransaction, transactionStatus } from '../../lib/rpc.js'
import { fromBase64, isSignedBy, messageOf, toBase64 } from '../../lib/solana.js'
import { connectWallet, signWithWallet } from '../../lib/wallets.js'
import type { Transfer } from '../answers.js'
import { call, codeOf } from '../api.js'
import { askWallet, walletRefusal } from '../parts/wallets.js'
import type { Seen } from './transfer.js'

const everyMs = 2000

export function rpcUrl(): string | undefined {
  return document.documentElement.dataset['rpcUrl']
}

/**
 * Submits a complete transaction until the network shows it: the service submits nothing. The same bytes land once, however
 * often they are sent. It goes on while the page is hidden, because on a phone the wallet is in front of it.
 */
export function useSubmission(transfer: Transfer | undefined): Seen | undefined {
  const [seen, setSeen] = useState<Seen>()
  const { transaction = null, signature = null } = transfer?.status === 'signed' ? transfer : {}
  useEffect(() => {
    const url = rpcUrl()
    if (url === undefined || transaction === null || signature === null) return
    const bytes = fromBase64(transaction)
    let timer: ReturnType<typeof setTimeout> | undefined
    let stopped = false
    let sent = false
    const step = async (): Promise<void> => {
      const status = await transactionStatus(url, signature).catch(() => undefined)
      if (stopped) return
      if (status !== undefined) setSeen(status)
      if (status === undefined || status === 'none') {
        // The first time the endpoint may refuse what would fail. Later it may lag behind, so it is not asked.
        await sendTransaction(url, bytes, sent).catch(() => undefined)
        sent = true
      }
      if (!stopped) timer = setTimeout(() => void step(), everyMs)
    }
    void step()
    return () => {
      stopped = true
      clearTimeout(timer)
    }
  }, [transaction, signature])
  return seen
}

const solDecimals = 9

/** What the payout wallet pays for a transaction, in SOL. */
interface Fee {
  readonly network: string
  /** Once, for opening the wallet's account of the token. Undefined: it has one. */
  readonly opening: string | undefined
}

/** The fee, read from the network. Undefined while it is not known. */
export function useFee({ transaction, wallet, mint }: Transfer): Fee | undefined {
  const [fee, setFee] = useState<Fee>()
  useEffect(() => {
    const url = rpcUrl()
    if (url === undefined || transaction === null) return
    let wanted = true
    Promise.all([networkFee(url, messageOf(fromBase64(transaction))), openingCost(url, wallet, mint)]).then(
      ([network, opening]) => {
        if (wanted && network !== null)
          setFee({ network: inSol(network), opening: opening === 0 ? undefined : inSol(opening) })
      },
      // The wallet shows the fee, too.
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [transaction, wallet, mint])
  return fee
}

function inSol(lamports: number): string {
  return `${displayText(BigInt(lamports), solDecimals)} SOL`
}

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
export function handIn(id: string, transaction: string): Promise<unknown> {
  return untilAnswered(() => call('POST', `${transfersPath}/${id}/sign`, { body: { transaction } }), {
    pausesMs,
    mayRepeat: (error, tries) =>
      tries < pausesMs.length && (isPassing(error) || codeOf(error) === 'request_in_progress'),
  })
}
