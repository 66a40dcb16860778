import type { Wallet } from '@wallet-standard/base'
import type { RelayedWallet } from '../embed/protocol.js'
import { type Account, connectWallet, onWallets, usableWallets, useWallet } from '../lib/wallets.js'
import { framed } from './frame/around.js'
import { openBridge } from './frame/bridge.js'
import type { WalletChoice } from './machine/state.js'

type Call = 'signTransaction' | 'signAndSendTransaction'

/** A wallet that can be asked, wherever it lives. */
export interface PayWallet extends WalletChoice {
  readonly features: readonly string[]
  connect(): Promise<Account>
  use(call: Call, address: string, transaction: Uint8Array, chain: string): Promise<Uint8Array>
}

export interface WalletBook {
  find(id: string): PayWallet | undefined
}

/** The wallets of this window, and in a frame those its page relays; one that is in both is asked here. */
export function openWalletBook(changed: (wallets: readonly WalletChoice[]) => void): WalletBook {
  let relayed: readonly PayWallet[] = []
  const book = new Map<string, PayWallet>()
  const tell = (): void => {
    const own = usableWallets().map(ownWallet)
    const others = relayed.filter(({ name }) => own.every((wallet) => wallet.name !== name))
    book.clear()
    for (const wallet of [...own, ...others]) book.set(wallet.id, wallet)
    changed([...book.values()].map(({ id, name, icon }) => ({ id, name, icon })))
  }
  onWallets(tell)
  if (framed) {
    const bridge = openBridge((wallets) => {
      relayed = wallets.map((wallet) => relayedWallet(bridge, wallet))
      tell()
    })
  }
  tell()
  return { find: (id) => book.get(id) }
}

function ownWallet(wallet: Wallet): PayWallet {
  return {
    id: `own ${wallet.name}`,
    name: wallet.name,
    icon: safeIcon(wallet.icon),
    features: Object.keys(wallet.features),
    connect: () => connectWallet(wallet),
    use: (call, address, transaction, chain) => useWallet(wallet, call, { address, transaction, chain }),
  }
}

function relayedWallet(
  bridge: ReturnType<typeof openBridge>,
  { name, icon, features }: RelayedWallet,
): PayWallet {
  return {
    id: `relayed ${name}`,
    name,
    icon: safeIcon(icon),
    features,
    connect: () => bridge.ask({ call: 'connect', wallet: name }) as Promise<Account>,
    use: (call, address, transaction, chain) =>
      bridge.ask({ call, wallet: name, address, transaction, chain }) as Promise<Uint8Array>,
  }
}

/** Pictures only, and none that would be fetched from anywhere. */
function safeIcon(icon: string): string {
  return /^data:image\/(svg\+xml|png|webp|gif|jpeg);/.test(icon) ? icon : ''
}
