import type { Supporter } from '../make/supporter.js'

type Feature = 'signTransaction' | 'signAndSendTransaction' | 'signMessage'

/** Options of the test wallet in the browser (test/browser/test-wallet.js). */
export interface WalletSwitches {
  readonly name?: string
  /** The wallet is only in the top-level page, not in frames, like the most used wallet. */
  readonly topOnly?: boolean
  /** How late the wallet registers itself. */
  readonly lateMs?: number
  readonly chains?: readonly string[]
  readonly features?: readonly Feature[]
  readonly mode?: 'approve' | 'reject' | 'busy' | 'hang' | 'broken' | 'unsigned' | 'lost' | 'tamper'
}

const icon = `data:image/svg+xml;base64,${Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#6b5bd6"/><path d="M9 12h14v9H9z M9 12l10-3v3" fill="none" stroke="#fff" stroke-width="2"/></svg>',
).toString('base64')}`

/** The configuration with which the test wallet holds this supporter's key. */
export function walletConfig(
  { keypair, wallet }: Pick<Supporter, 'keypair' | 'wallet'>,
  rpcUrl: string,
  switches: WalletSwitches = {},
) {
  const { name = 'Test Wallet', topOnly = false, lateMs = 0, chains = ['solana:mainnet'] } = switches
  const { features = ['signTransaction', 'signAndSendTransaction'], mode = 'approve' } = switches
  const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
  return {
    name,
    icon,
    topOnly,
    lateMs,
    chains,
    features,
    switches: { mode },
    rpcUrl,
    address: wallet,
    publicKey: [...keypair.publicKey.toBytes()],
    jwk: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: base64url(keypair.secretKey.slice(0, 32)),
      x: base64url(keypair.publicKey.toBytes()),
    },
  }
}
