import { z } from 'zod'
import { ProviderError, undocumented } from '../../kernel/provider-error.js'
import { requestJson } from '../../platform/http-client.js'

interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface JsonRpcOptions {
  /** In order of preference. The next endpoint is used when one gives no usable answer. */
  readonly urls: readonly string[]
  /** Genesis hash of our chain. An endpoint of another chain is refused. */
  readonly genesisHash: string | undefined
  /** Called for every call, including those in a batch. For the metrics. */
  readonly onCall: (method: string, calls: number) => void
  /** Called with the host of an endpoint that gave no usable answer, even if another endpoint did. */
  readonly onFailure: (host: string) => void
  /** Time limit of one HTTP request in ms; default 10 s. */
  readonly timeoutMs?: number
}

/** The answer to one call of a batch: its result, or undefined when this call failed. */
type BatchAnswer = unknown

/** Reads a result. Throws ProviderError when it is not as documented or not plausible. */
type Read<Result> = (result: unknown) => Result

export interface JsonRpc {
  /** Calls the preferred endpoint, and the next one when the answer cannot be read. */
  call<Result>(method: string, params: readonly unknown[], read: Read<Result>): Promise<Result>
  /** One HTTP request for several calls. A call that failed is undefined; the others keep their results. */
  batch(calls: readonly RpcCall[]): Promise<BatchAnswer[]>
  /** Calls every endpoint. Throws when one of them gives no usable answer. */
  callAll<Result>(method: string, params: readonly unknown[], read: Read<Result>): Promise<Result[]>
  /** The same for what takes several calls: `ask` gets a `call` that calls this endpoint and no other. */
  askAll<Result>(ask: (endpoint: Pick<JsonRpc, 'call'>) => Promise<Result>): Promise<Result[]>
}

const defaultTimeoutMs = 10_000
/** Time limit per endpoint while a person waits. Leaves time for the next endpoint when one hangs. */
export const interactiveTimeoutMs = 3000
const maxBytes = 32 * 1024 * 1024

/**
 * Codes of JSON-RPC and HTTP that mean "send less": invalid params (too many inputs) and limits of batches. Any other
 * 4xx (a used-up key, a blocked address) is about the endpoint, so the next one is used.
 */
const tooLargeCodes = new Set([-32602, -32600, -32005, 400, 413])

const answer = z.object({
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
})

/**
 * A JSON-RPC client for several endpoints. Throws ProviderError `rejected` when the node refuses the request in this
 * size or form, otherwise `unavailable` or `ambiguous`, and the caller tries again later.
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
  async function checkGenesisHash(url: string): Promise<void> {
    if (genesisHash === undefined || trusted.has(url)) return
    const { result } = answer.parse(await post(url, [{ method: 'getGenesisHash', params: [] }]))
    if (result !== genesisHash)
      throw new ProviderError('unavailable', `${new URL(url).host} serves another chain: ${String(result)}`)
    trusted.add(url)
  }
  async function sendTo<Result>(url: string, calls: readonly RpcCall[], read: Read<Result>): Promise<Result> {
    try {
      await checkGenesisHash(url)
      return read(await post(url, calls))
    } catch (error) {
      // Another node may answer at this address later, so its chain is checked again.
      trusted.delete(url)
      const failure = asProviderError(error)
      if (failure.kind !== 'rejected') onFailure(new URL(url).host)
      throw failure
    }
  }
  async function sendToAny<Result>(calls: readonly RpcCall[], read: Read<Result>): Promise<Result> {
    let failure: unknown
    for (let attempt = 0; attempt < urls.length; attempt++) {
      const index = (preferred + attempt) % urls.length
      try {
        const result = await sendTo(urls[index] as string, calls, read)
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
  const askAll: JsonRpc['askAll'] = (ask) =>
    Promise.all(
      urls.map((url) =>
        ask({
          call: (method, params, read) => sendTo(url, [{ method, params }], (reply) => read(resultOf(reply))),
        }),
      ),
    )
  return {
    call: (method, params, read) => sendToAny([{ method, params }], (reply) => read(resultOf(reply))),
    async batch(calls) {
      if (calls.length === 0) return []
      return await sendToAny(calls, (reply) => batchResults(reply, calls.length)).catch((error: unknown) => {
        if (error instanceof NothingAnswered) return calls.map(() => undefined)
        throw error
      })
    },
    callAll: (method, params, read) => askAll(({ call }) => call(method, params, read)),
    askAll,
  }
}

const batchReply = z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())])

/** Every call of a batch failed. Another endpoint may have answers; if none has, every call counts as failed. */
class NothingAnswered extends ProviderError {}

function batchResults(reply: unknown, count: number): BatchAnswer[] {
  const replies = batchReply.parse(reply)
  const single = (): BatchAnswer[] => [count === 1 ? resultAlone(replies) : resultOf(replies)]
  const results = Array.isArray(replies) ? inOrder(replies, count) : single()
  if (results.every((result) => result === undefined))
    throw new NothingAnswered('unavailable', 'the RPC answered no call of a batch')
  return results
}

/** Nodes may answer a batch in any order; the id identifies the call. */
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

/** The answer to a batch of one. A failed call is undefined here too, unless the node wants a smaller request. */
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
    tooLargeCodes.has(error.code) ? 'rejected' : 'unavailable',
    `RPC error ${error.code}: ${error.message}`,
    error.code,
  )
}

/** Reads a result in its documented form. */
export function documented<Schema extends z.ZodType>(schema: Schema): Read<z.output<Schema>> {
  return (result) => {
    const parsed = schema.safeParse(result)
    if (!parsed.success) throw undocumented('the RPC did not answer as documented', parsed.error)
    return parsed.data
  }
}

function asProviderError(error: unknown): ProviderError {
  if (!(error instanceof ProviderError))
    return new ProviderError('ambiguous', 'the RPC did not answer as documented')
  const { kind, message, code } = error
  return kind === 'rejected' && !tooLargeCodes.has(Number(code))
    ? new ProviderError('unavailable', message, code)
    : error
}
