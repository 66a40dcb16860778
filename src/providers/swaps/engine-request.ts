import { z } from 'zod'
import { ProviderError, undocumented } from '../../kernel/provider-error.js'
import { type JsonRequest, requestJson } from '../../platform/http-client.js'

export interface EngineOptions {
  readonly url: string
  readonly apiKey: string | undefined
}

const timeoutMs = 3000
const maxBytes = 512 * 1024
/** Statuses that mean "no route for this request". Any other refusal is about our account. */
const noRouteStatuses = new Set([400, 404, 422])
const maxUnits = 2n ** 64n - 1n
const percentDecimals = 6
/** The slippage that counts when an engine does not say its own. */
export const slippageBps = 50n
/** An engine may quote at most this slippage. Beyond it the promise would mean nothing. */
const maxSlippageBps = 1000n

/** Base units, as text. */
export const units = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)
  .refine((amount) => amount <= maxUnits)

/** A number, or a number as text: the engines differ. */
export const numeric = z.union([z.number(), z.string().trim().min(1).transform(Number)]).pipe(z.number())

/** Sends a request to an engine. Throws ProviderError, `rejected` only when the engine has no route for the request. */
export async function requestEngine<Schema extends z.ZodType>(
  { url, apiKey }: EngineOptions,
  path: string,
  schema: Schema,
  request: Pick<JsonRequest, 'method' | 'body'> = {},
): Promise<z.output<Schema>> {
  const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey }
  const answer = await requestJson(`${url}${path}`, { ...request, headers, timeoutMs, maxBytes }).catch(
    (error: unknown) => {
      throw error instanceof ProviderError ? asEngineError(error) : error
    },
  )
  const parsed = schema.safeParse(answer)
  if (!parsed.success)
    throw undocumented(`${path.split('?')[0]}: the answer is not as documented`, parsed.error)
  return parsed.data
}

/** The least that keeps the promise of a quote. `threshold`: the engine's own bound, base units as text, if it gave one. */
export function leastAmount(outAmount: bigint, threshold: unknown): bigint {
  const after = (bps: bigint): bigint => {
    const least = (outAmount * (10_000n - bps)) / 10_000n
    return least > 0n ? least : 1n
  }
  const quoted = units.safeParse(threshold).data ?? after(slippageBps)
  const least = after(maxSlippageBps)
  if (quoted > outAmount) return outAmount
  return quoted < least ? least : quoted
}

/** The engine has no route we can use. */
export function noRoute(reason: string): ProviderError {
  return new ProviderError('rejected', reason)
}

/** Percent without rounding noise of binary fractions. Always positive, for a gain too. */
export function percent(value: number): number {
  return Number(Math.abs(value).toFixed(percentDecimals))
}

/** A refusal of our API key does not mean that there is no route. */
function asEngineError(error: ProviderError): ProviderError {
  if (error.kind !== 'rejected' || noRouteStatuses.has(error.code ?? 0)) return error
  return new ProviderError('unavailable', error.message, error.code)
}
