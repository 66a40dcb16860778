import type { LocalChain } from '../local-chain.js'
import { accountMethods } from './accounts.js'
import { clusterMethods } from './cluster.js'
import { devMethods } from './dev-methods.js'
import { RpcError } from './error.js'
import { historyMethods } from './history.js'
import type { RpcMethod } from './params.js'
import { transactionMethods } from './transactions.js'

export interface RpcAnswer {
  readonly jsonrpc: '2.0'
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export function rpcMethods(chain: LocalChain): Record<string, RpcMethod> {
  return {
    ...clusterMethods(chain),
    ...accountMethods(chain),
    ...transactionMethods(chain),
    ...historyMethods(chain),
    ...devMethods(chain),
  }
}

/** Answers JSON-RPC calls. `onCall` is called with the name of every known method that is called. */
export class RpcServer {
  readonly #methods: ReadonlyMap<string, RpcMethod>
  readonly #onCall: (method: string) => void

  constructor(chain: LocalChain, onCall: (method: string) => void) {
    this.#methods = new Map(Object.entries(rpcMethods(chain)))
    this.#onCall = onCall
  }

  /** The answer to a parsed body: one request, or a batch of them. */
  answer(body: unknown): RpcAnswer | RpcAnswer[] {
    if (!Array.isArray(body)) return this.call(body)
    if (body.length === 0) return errorAnswer(null, -32600, 'Invalid request: empty batch')
    return body.map((request) => this.call(request))
  }

  /** Answers one request. Every failure becomes an error answer. */
  call(request: unknown): RpcAnswer {
    const { id, method, params } = readRequest(request)
    if (typeof method !== 'string') return errorAnswer(id, -32600, 'Invalid request')
    const run = this.#methods.get(method)
    if (!run) return errorAnswer(id, -32601, 'Method not found')
    if (!Array.isArray(params)) return errorAnswer(id, -32602, 'Invalid params: expected an array')
    this.#onCall(method)
    try {
      return { jsonrpc: '2.0', id, result: run(params) }
    } catch (error) {
      if (error instanceof RpcError) return errorAnswer(id, error.code, error.message, error.data)
      return errorAnswer(
        id,
        -32603,
        `Internal error: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
}

function readRequest(request: unknown): { id: unknown; method: unknown; params: unknown } {
  if (typeof request !== 'object' || request === null) return { id: null, method: undefined, params: [] }
  const { id = null, method, params = [] } = request as { id?: unknown; method?: unknown; params?: unknown }
  return { id: typeof id === 'string' || typeof id === 'number' ? id : null, method, params }
}

export function errorAnswer(id: unknown, code: number, message: string, data?: unknown): RpcAnswer {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}
