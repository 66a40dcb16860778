import type { RelayAnswer, RelayedWallet, RelayRequest } from '../../embed/protocol.js'
import { tellParent } from './around.js'

/** The wallets of the embedding page, as its script relays them. */
export interface Bridge {
  ask(request: Omit<RelayRequest, 'id'>): Promise<unknown>
}

/**
 * Hands the embedding page one end of a port. Only whoever is at that origin can have it, and no other port is ever
 * listened to. Without our script there nobody answers, which is the same as a page without wallets.
 */
export function openBridge(found: (wallets: readonly RelayedWallet[]) => void): Bridge {
  const { port1, port2 } = new MessageChannel()
  const waiting = new Map<number, (answer: Extract<RelayAnswer, { id: number }>) => void>()
  let last = 0
  port1.onmessage = ({ data }: MessageEvent<RelayAnswer>) => {
    if ('id' in data) {
      waiting.get(data.id)?.(data)
      waiting.delete(data.id)
    } else if (data.type === 'wallets') found(data.wallets)
  }
  tellParent({ type: 'hello' }, [port2])
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        last += 1
        waiting.set(last, (answer) => ('ok' in answer ? resolve(answer.ok) : reject(answer.error)))
        port1.postMessage({ id: last, ...request })
      }),
  }
}
