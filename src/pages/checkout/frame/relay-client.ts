import type { RelayAnswer, RelayedWallet, RelayRequest } from '../../embed/protocol.js'
import { postToParent } from './parent-page.js'

/** Sends requests to the wallets of the embedding page, through embed.js. */
export interface RelayClient {
  request(request: Omit<RelayRequest, 'id'>): Promise<unknown>
}

/**
 * Sends the embedding page one end of a port, addressed to its origin, and listens to no other port. Without embed.js there
 * is no answer, and the page has no relayed wallets.
 */
export function openRelayClient(onWallets: (wallets: readonly RelayedWallet[]) => void): RelayClient {
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
