import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { requestJson } from '../../platform/http-client.js'

interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface JsonRpcOptions {
  /** In order of preference; the next one is asked when one gives no usable answer. */
  readonly urls: readonly string[]
  /** The chain we mean. An endpoint of another one is never believed. */
  readonly genesisHash: string | undefined
  /** Told of every call, also those inside a batch, for the metrics. */
  readonly onCall: (method: string, calls: number) => void
  /** Deadline of one HTTP request in ms; default 10 s. */
  readonly timeoutMs?: number
}

/** The answer to one call of a batch: its result, or undefined when this one failed. */
type BatchAnswer = unknown

export interface JsonRpc {
  call(method: string, params: readonly unknown[]): Promise<unknown>
  /** One HTTP request for several calls; a call that failed alone is undefined, the others stand. */
  batch(calls: readonly RpcCall[]): Promise<BatchAnswer[]>
}

const defaultTimeoutMs = 10_000
const maxBytes = 32 * 1024 * 1024

/** JSON-RPC codes by which a node says "smaller": invalid params (too many inputs) and limits of batches. */
const tooMuch = new Set([-32602, -32600, -32005, 413])

const answer = z.object({
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
})

/**
 * A JSON-RPC client over several endpoints. Throws ProviderError `rejected` when the node refuses the request as
 * it is (ask for less), otherwise `unavailable` or `ambiguous`: reading is repeated later either way.
 */
export function createJsonRpc(options: JsonRpcOptions): JsonRpc {
  const { urls, genesisHash, onCall, timeoutMs = defaultTimeoutMs } = options
  const trusted = new Set<string>()
  let preferred = 0

  async function post(url: string, calls: readonly RpcCall[]): Promise<unknown> {
    for (const { method } of calls) onCall(method, 1)
    const messages = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
    return await requestJson(url, {
      method: 'POST',
      body: messages.length === 1 ? messages[0] : messages,
      timeoutMs,
      maxBytes,
    })
  }
  async function trust(url: string): Promise<void> {
    if (genesisHash === undefined || trusted.has(url)) return
    const { result } = answer.parse(await post(url, [{ method: 'getGenesisHash', params: [] }]))
    if (result !== genesisHash)
      throw new ProviderError('unavailable', `${new URL(url).host} serves another chain: ${String(result)}`)
    trusted.add(url)
  }
  async function ask(calls: readonly RpcCall[]): Promise<unknown> {
    let failure: unknown
    for (let turn = 0; turn < urls.length; turn++) {
      const index = (preferred + turn) % urls.length
      const url = urls[index] as string
      try {
        await trust(url)
        const reply = await post(url, calls)
        preferred = index
        return reply
      } catch (error) {
        // Whatever comes back on this address later must prove its chain again.
        trusted.delete(url)
        failure = error
        if (error instanceof ProviderError && error.kind === 'rejected') break
      }
    }
    preferred = (preferred + 1) % urls.length
    throw asProviderError(failure)
  }
  return {
    async call(method, params) {
      return resultOf(await ask([{ method, params }]))
    },
    async batch(calls) {
      if (calls.length === 0) return []
      const replies = z
        .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
        .parse(await ask(calls))
      if (Array.isArray(replies)) return inOrder(replies, calls.length)
      return [calls.length === 1 ? resultAlone(replies) : resultOf(replies)]
    },
  }
}

/** Nodes may answer a batch in any order; the id says which call is meant. */
function inOrder(replies: readonly unknown[], count: number): BatchAnswer[] {
  const results: BatchAnswer[] = Array.from({ length: count })
  for (const reply of replies) {
    const parsed = answer.safeParse(reply)
    if (parsed.success && parsed.data.error === undefined)
      results[Number(parsed.data.id)] = parsed.data.result
  }
  return results
}

/** The answer to a batch of one: what failed alone is undefined there too, unless the node wants less. */
function resultAlone(reply: unknown): BatchAnswer {
  try {
    return resultOf(reply)
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'unavailable') return undefined
    throw error
  }
}

function resultOf(reply: unknown): unknown {
  const parsed = answer.safeParse(reply)
  if (!parsed.success) throw new ProviderError('ambiguous', 'the RPC did not answer JSON-RPC')
  const { error, result } = parsed.data
  if (error === undefined) return result
  throw new ProviderError(
    tooMuch.has(error.code) ? 'rejected' : 'unavailable',
    `RPC error ${error.code}: ${error.message}`,
    error.code,
  )
}

function asProviderError(error: unknown): ProviderError {
  return error instanceof ProviderError
    ? error
    : new ProviderError('ambiguous', 'the RPC did not answer as documented')
}
