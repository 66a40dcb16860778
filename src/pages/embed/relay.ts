import { connectWallet, onWalletsChange, signWithWallet, usableWallets } from '../lib/wallets.js'
import type { RelayAnswer, RelayRequest } from './protocol.js'

/**
 * Relays this page's wallets to the frame at the other end of the port, because many wallets work only in a top-level page.
 * The relay only carries bytes: the wallet itself asks its owner for every approval.
 */
export function relayWallets(port: MessagePort): void {
  const post = (handle: RelayAnswer): void => port.postMessage(handle)
  const list = (): void =>
    post({
      type: 'wallets',
      wallets: usableWallets().map(({ name, icon, chains, features }) => ({
        name,
        icon,
        chains: [...chains],
        features: Object.keys(features),
      })),
    })
  port.onmessage = ({ data }: MessageEvent<RelayRequest>) => {
    answer(data).then(
      (ok) => post({ id: data.id, ok }),
      ({ code, name, message }: Partial<Record<'code' | 'name' | 'message', unknown>>) =>
        post({ id: data.id, error: { code, name, message: String(message) } }),
    )
  }
  onWalletsChange(list)
  list()
}

async function answer({ call, wallet: name, address, transaction, chain }: RelayRequest): Promise<unknown> {
  const wallet = usableWallets().find((one) => one.name === name)
  if (wallet === undefined) throw Object.assign(new Error('The wallet is gone'), { code: 4100 })
  if (call === 'connect') return connectWallet(wallet)
  if (address === undefined || transaction === undefined || chain === undefined)
    throw new Error('Unknown call')
  return signWithWallet(wallet, call, { address, transaction, chain })
}
