import type { Wallet } from '@wallet-standard/base'
import type { RelayAnswer, RelayedWallet, RelayRequest } from '../embed/protocol.js'
import {
  type Account,
  connectWallet,
  onWalletsChange,
  safeIcon,
  signWithWallet,
  usableWallets,
} from '../lib/wallets.js'
import type { WalletChoice } from './machine/state.js'
import { framed, postToParent } from './parent-page.js'

type Call = 'signTransaction' | 'signAndSendTransaction'

export interface PayWallet extends WalletChoice {
  readonly features: readonly string[]
  connect(): Promise<Account>
  sign(call: Call, address: string, transaction: Uint8Array, chain: string): Promise<Uint8Array>
}

export interface Wallets {
  find(id: string): PayWallet | undefined
  account: Account | undefined
}

/** The wallets of this window, and in a frame those of the embedding page. A wallet in both is used in this window. */
export function openWallets(onChange: (wallets: readonly WalletChoice[]) => void): Wallets {
  let relayed: readonly PayWallet[] = []
  const byId = new Map<string, PayWallet>()
  const update = (): void => {
    const own = usableWallets().map(ownWallet)
    const others = relayed.filter(({ name }) => own.every((wallet) => wallet.name !== name))
    byId.clear()
    for (const wallet of [...own, ...others]) byId.set(wallet.id, wallet)
    onChange([...byId.values()].map(({ id, name, icon }) => ({ id, name, icon })))
  }
  onWalletsChange(update)
  if (framed) {
    const relay = openRelayClient((wallets) => {
      relayed = wallets.map((wallet) => relayedWallet(relay, wallet))
      update()
    })
  }
  update()
  return { find: (id) => byId.get(id), account: undefined }
}

function ownWallet(wallet: Wallet): PayWallet {
  return {
    id: `own ${wallet.name}`,
    name: wallet.name,
    icon: safeIcon(wallet.icon),
    features: Object.keys(wallet.features),
    connect: () => connectWallet(wallet),
    sign: (call, address, transaction, chain) =>
      signWithWallet(wallet, call, { address, transaction, chain }),
  }
}

function relayedWallet(relay: RelayClient, { name, icon, features }: RelayedWallet): PayWallet {
  return {
    id: `relayed ${name}`,
    name,
    icon: safeIcon(icon),
    features,
    connect: () => relay.request({ call: 'connect', wallet: name }) as Promise<Account>,
    sign: (call, address, transaction, chain) =>
      relay.request({ call, wallet: name, address, transaction, chain }) as Promise<Uint8Array>,
  }
}

/** Sends requests to the wallets of the embedding page, through embed.js. */
interface RelayClient {
  request(request: Omit<RelayRequest, 'id'>): Promise<unknown>
}

/**
 * Sends the embedding page one end of a port, addressed to its origin, and listens to no other port. Without embed.js there
 * is no answer, and the page has no relayed wallets.
 */
function openRelayClient(onWallets: (wallets: readonly RelayedWallet[]) => void): RelayClient {
  const { port1, port2 } = new MessageChannel()
  const waiting = new Map<number, (answer: Extract<RelayAnswer, { id: number }>) => void>()
  let last = 0
  port1.onmessage = ({ data }: MessageEvent<RelayAnswer>) => {
    if ('id' in data) {
      waiting.get(data.id)?.(data)
      waiting.delete(data.id)
    } else if (data.type === 'wallets') onWallets(data.wallets)
  }
  postToParent({ type: 'hello' }, [port2])
  return {
    request: (request) =>
      new Promise((resolve, reject) => {
        last += 1
        waiting.set(last, (answer) => ('ok' in answer ? resolve(answer.ok) : reject(answer.error)))
        port1.postMessage({ id: last, ...request })
      }),
  }
}
