import type { AddressInfo } from 'node:net'
import type { LocalChain } from '../../sandbox/chain/local-chain.js'
import { errorAnswer, type RpcAnswer, RpcServer } from '../../sandbox/chain/rpc/server.js'
import { json, type Route } from '../../sandbox/http-route.js'
import { closeServer, listen } from '../../sandbox/http-server.js'

/** It must show a tip above this too. */
export const agreeAboveDollars = 500

/** A second RPC node of the chain. */
export interface DenyingNode {
  readonly url: string
  /** The chain that it shows. */
  show(chain: LocalChain): void
  /** While on, it knows no transaction. */
  deny(on: boolean): void
  close(): Promise<void>
}

export async function startDenyingNode(): Promise<DenyingNode> {
  let node: Node | undefined
  const answer: Route = ({ body }) =>
    json(200, node?.answer(JSON.parse(body.toString())) ?? errorAnswer(null, -32005, 'Node is behind'))
  const server = await listen(0, '127.0.0.1', new Map([['POST /', answer]]))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    show(chain) {
      node = new Node(chain, () => undefined)
    },
    deny(on) {
      if (node !== undefined) node.denies = on
    },
    close: () => closeServer(server),
  }
}

class Node extends RpcServer {
  denies = false

  override call(request: unknown): RpcAnswer {
    const answer = super.call(request)
    const isDenied = this.denies && (request as { method?: unknown } | null)?.method === 'getTransaction'
    return isDenied ? { ...answer, result: null } : answer
  }
}
