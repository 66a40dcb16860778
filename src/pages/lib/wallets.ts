import {
  SolanaSignAndSendTransaction,
  type SolanaSignAndSendTransactionFeature,
  SolanaSignMessage,
  type SolanaSignMessageFeature,
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

export function walletsThat(sign: 'solana:signTransaction' | 'solana:signMessage'): readonly Wallet[] {
  return usableWallets().filter(({ features }) => sign in features)
}

/** Calls back when a wallet registers or unregisters. Returns a function that stops it. */
export function onWalletsChange(changed: () => void): () => void {
  const { on } = getWallets()
  const stops = [on('register', changed), on('unregister', changed)]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Returns the icon only if it is an image in a data: URL, so that nothing is fetched. */
export function safeIcon(icon: string): string {
  return /^data:image\/(svg\+xml|png|webp|gif|jpeg);/.test(icon) ? icon : ''
}

/** Connects a wallet and returns its first account. Throws the wallet's own errors. */
export async function connectWallet(wallet: Wallet): Promise<Account> {
  const { connect } = wallet.features[connectName] as ConnectFeature
  const [account] = (await connect()).accounts
  if (account === undefined) throw Object.assign(new Error('The wallet shares no account'), { code: 4100 })
  const { address, publicKey, chains, features } = account
  return { address, publicKey: Uint8Array.from(publicKey), chains: [...chains], features: [...features] }
}

function accountOf({ accounts }: Wallet, wanted: string): WalletAccount {
  const account = accounts.find(({ address }) => address === wanted)
  if (account === undefined) throw Object.assign(new Error('The account is gone'), { code: 4100 })
  return account
}

/** Returns the signed transaction, or the 64 bytes of the signature when the wallet also sends. */
export async function signWithWallet(
  wallet: Wallet,
  call: 'signTransaction' | 'signAndSendTransaction',
  request: { readonly address: string; readonly transaction: Uint8Array; readonly chain: string },
): Promise<Uint8Array> {
  const account = accountOf(wallet, request.address)
  const input = { account, transaction: request.transaction, chain: request.chain as IdentifierString }
  const features = wallet.features as SolanaSignTransactionFeature & SolanaSignAndSendTransactionFeature
  if (call === 'signTransaction') {
    const [output] = await features[SolanaSignTransaction].signTransaction(input)
    return output?.signedTransaction ?? new Uint8Array()
  }
  const [output] = await features[SolanaSignAndSendTransaction].signAndSendTransaction(input)
  return output?.signature ?? new Uint8Array()
}

/** Returns the 64 bytes of the signature. Signing a message moves nothing. */
export async function signMessageWithWallet(
  wallet: Wallet,
  address: string,
  message: Uint8Array,
): Promise<Uint8Array> {
  const { [SolanaSignMessage]: feature } = wallet.features as SolanaSignMessageFeature
  const [output] = await feature.signMessage({ account: accountOf(wallet, address), message })
  return output?.signature ?? new Uint8Array()
}
