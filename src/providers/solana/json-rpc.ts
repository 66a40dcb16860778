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
  /** Told the host of an endpoint that gave no usable answer, whether or not another one did. */
  readonly onFailure: (host: string) => void
  /** Deadline of one HTTP request in ms; default 10 s. */
  readonly timeoutMs?: number
}

/** The answer to one call of a batch: its result, or undefined when this one failed. */
type BatchAnswer = unknown

/** Reads a result; throws ProviderError for one that is not as documented or not to be believed. */
type Read<Result> = (result: unknown) => Result

export interface JsonRpc {
  /** An endpoint whose answer cannot be read is as good as away: the next one is asked. */
  call<Result>(method: string, params: readonly unknown[], read: Read<Result>): Promise<Result>
  /** One HTTP request for several calls; a call that failed alone is undefined, the others stand. */
  batch(calls: readonly RpcCall[]): Promise<BatchAnswer[]>
  /** Asks every endpoint. Throws when one of them gives no usable answer. */
  everywhere<Result>(method: string, params: readonly unknown[], read: Read<Result>): Promise<Result[]>
}

const defaultTimeoutMs = 10_000
/** Deadline of a request somebody is waiting for, per endpoint: a node that hangs leaves time to ask the next one. */
export const waitedForMs = 3000
const maxBytes = 32 * 1024 * 1024

/**
 * By these codes of JSON-RPC and HTTP a node says "smaller": invalid params (too many inputs) and limits of batches.
 * Any other 4xx (a key that has run out, a blocked address) is about the endpoint: the next one is asked.
 */
const tooMuch = new Set([-32602, -32600, -32005, 400, 413])

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
  const { urls, genesisHash, onCall, onFailure, timeoutMs = defaultTimeoutMs } = options
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
  async function askOne<Result>(url: string, calls: readonly RpcCall[], read: Read<Result>): Promise<Result> {
    try {
      await trust(url)
      return read(await post(url, calls))
    } catch (error) {
      // Whatever comes back on this address later must prove its chain again.
      trusted.delete(url)
      const failure = asProviderError(error)
      if (failure.kind !== 'rejected') onFailure(new URL(url).host)
      throw failure
    }
  }
  async function ask<Result>(calls: readonly RpcCall[], read: Read<Result>): Promise<Result> {
    let failure: unknown
    for (let turn = 0; turn < urls.length; turn++) {
      const index = (preferred + turn) % urls.length
      try {
        const result = await askOne(urls[index] as string, calls, read)
        preferred = index
        return result
      } catch (error) {
        failure = error
        if (error instanceof ProviderError && error.kind === 'rejected') break
      }
    }
    preferred = (preferred + 1) % urls.length
    throw failure
  }
  return {
    call: (method, params, read) => ask([{ method, params }], (reply) => read(resultOf(reply))),
    async batch(calls) {
      if (calls.length === 0) return []
      return await ask(calls, (reply) => batchResults(reply, calls.length)).catch((error: unknown) => {
        if (error instanceof NothingAnswered) return calls.map(() => undefined)
        throw error
      })
    },
    everywhere: (method, params, read) =>
      Promise.all(urls.map((url) => askOne(url, [{ method, params }], (reply) => read(resultOf(reply))))),
  }
}

const batchReply = z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())])

/** Every call of a batch failed: another endpoint may know better, and if none does, the calls failed one by one. */
class NothingAnswered extends ProviderError {}

function batchResults(reply: unknown, count: number): BatchAnswer[] {
  const replies = batchReply.parse(reply)
  const single = (): BatchAnswer[] => [count === 1 ? resultAlone(replies) : resultOf(replies)]
  const results = Array.isArray(replies) ? inOrder(replies, count) : single()
  if (results.every((result) => result === undefined))
    throw new NothingAnswered('unavailable', 'the RPC answered no call of a batch')
  return results
}

/** Nodes may answer a batch in any order; the id says which call is meant. */
function inOrder(replies: readonly unknown[], count: number): BatchAnswer[] {
  const results: BatchAnswer[] = Array.from({ length: count })
  for (const reply of replies) {
    const parsed = answer.safeParse(reply)
    if (!parsed.success || parsed.data.error !== undefined) continue
    const index = Number(parsed.data.id ?? Number.NaN)
    if (index in results) results[index] = parsed.data.result
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

/** Reads a result as its documentation has it. */
export function documented<Schema extends z.ZodType>(schema: Schema): Read<z.output<Schema>> {
  return (result) => {
    const parsed = schema.safeParse(result)
    if (!parsed.success) throw new ProviderError('ambiguous', 'the RPC did not answer as documented')
    return parsed.data
  }
}

function asProviderError(error: unknown): ProviderError {
  if (!(error instanceof ProviderError))
    return new ProviderError('ambiguous', 'the RPC did not answer as documented')
  const { kind, message, code } = error
  return kind === 'rejected' && !tooMuch.has(Number(code))
    ? new ProviderError('unavailable', message, code)
    : error
}
