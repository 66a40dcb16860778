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

/** A wallet's account without functions, so that it can be posted between windows. */
export interface Account {
  readonly address: string
  readonly publicKey: Uint8Array
  readonly chains: readonly string[]
  readonly features: readonly string[]
}

/** The wallets that can pay: they support Solana, connecting, and signing or sending. */
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

/** Calls back when a wallet registers or unregisters. */
export function onWalletsChange(changed: () => void): void {
  const { on } = getWallets()
  on('register', changed)
  on('unregister', changed)
}

/** Connects a wallet and returns its first account. Throws the wallet's own errors. */
export async function connectWallet(wallet: Wallet): Promise<Account> {
  const { connect } = wallet.features[connectName] as ConnectFeature
  const [account] = (await connect()).accounts
  if (account === undefined) throw Object.assign(new Error('The wallet shares no account'), { code: 4100 })
  const { address, publicKey, chains, features } = account
  return { address, publicKey: Uint8Array.from(publicKey), chains: [...chains], features: [...features] }
}

/** Returns the signed transaction, or the 64 bytes of the signature when the wallet also sends. */
export async function signWithWallet(
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
