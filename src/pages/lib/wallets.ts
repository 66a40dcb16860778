import {
  SolanaSignAndSendTransaction,
  type SolanaSignAndSendTransactionFeature,
  SolanaSignTransaction,
  type SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features'
import { getWallets } from '@wallet-standard/app'
import type { IdentifierString, Wallet, WalletAccount } from '@wallet-standard/base'

type ConnectFeature = {
  readonly connect: (input?: { silent?: boolean }) => Promise<{ accounts: readonly WalletAccount[] }>
}

const connectName = 'standard:connect'

/** An account as it is spoken of, also between windows: no functions in it. */
export interface Account {
  readonly address: string
  readonly publicKey: Uint8Array
  readonly chains: readonly string[]
  readonly features: readonly string[]
}

/** Wallets that can pay: they connect, know Solana, and sign or send. */
export function usableWallets(): readonly Wallet[] {
  return getWallets()
    .get()
    .filter(
      ({ chains, features }) =>
        chains.some((chain) => chain.startsWith('solana:')) &&
        connectName in features &&
        (SolanaSignTransaction in features || SolanaSignAndSendTransaction in features),
    )
}

/** Calls back whenever a wallet introduces itself or leaves. */
export function onWallets(changed: () => void): void {
  const { on } = getWallets()
  on('register', changed)
  on('unregister', changed)
}

/** Asks the wallet's owner for an account. Throws what the wallet throws. */
export async function connectWallet(wallet: Wallet): Promise<Account> {
  const { connect } = wallet.features[connectName] as ConnectFeature
  const [account] = (await connect()).accounts
  if (account === undefined) throw Object.assign(new Error('The wallet shares no account'), { code: 4100 })
  const { address, publicKey, chains, features } = account
  return { address, publicKey: Uint8Array.from(publicKey), chains: [...chains], features: [...features] }
}

/** Signs, or signs and sends. Returns the signed transaction, or the 64 bytes of the signature. */
export async function useWallet(
  wallet: Wallet,
  call: 'signTransaction' | 'signAndSendTransaction',
  request: { readonly address: string; readonly transaction: Uint8Array; readonly chain: string },
): Promise<Uint8Array> {
  const account = wallet.accounts.find(({ address }) => address === request.address)
  if (account === undefined) throw Object.assign(new Error('The account is gone'), { code: 4100 })
  const input = { account, transaction: request.transaction, chain: request.chain as IdentifierString }
  if (call === 'signTransaction') {
    const feature = wallet.features[
      SolanaSignTransaction
    ] as SolanaSignTransactionFeature[typeof SolanaSignTransaction]
    const [output] = await feature.signTransaction(input)
    return output?.signedTransaction ?? new Uint8Array()
  }
  const feature = wallet.features[
    SolanaSignAndSendTransaction
  ] as SolanaSignAndSendTransactionFeature[typeof SolanaSignAndSendTransaction]
  const [output] = await feature.signAndSendTransaction(input)
  return output?.signature ?? new Uint8Array()
}
