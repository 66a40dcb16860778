import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { type JsonRequest, requestJson } from '../../platform/http-client.js'

/** Where an engine is and how we show who we are. */
export interface EngineOptions {
  readonly url: string
  readonly apiKey: string | undefined
}

const timeoutMs = 3000
const maxBytes = 512 * 1024
/** What the engines answer to a request that is understood and has no answer; any other refusal is about us. */
const noAnswer = new Set([400, 404, 422])
const mostUnits = 2n ** 64n - 1n
const percentDecimals = 6

/** Base units as the engines write them. */
export const units = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)
  .refine((amount) => amount <= mostUnits)

/** A number, or its text: the engines are not of one mind. */
export const numeric = z.union([z.number(), z.string().trim().min(1).transform(Number)]).pipe(z.number())

/** Asks an engine. Throws ProviderError, `rejected` only when it has no answer to what was asked. */
export async function ask<Schema extends z.ZodType>(
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
    throw new ProviderError('ambiguous', `${path.split('?')[0]} was not answered as documented`)
  return parsed.data
}

/** The engine has no route we can use. */
export function noRoute(why: string): ProviderError {
  return new ProviderError('rejected', why)
}

/** Percent without the noise of binary fractions; a gain is told as a distance too. */
export function percent(value: number): number {
  return Number(Math.abs(value).toFixed(percentDecimals))
}

/** A key that is wrong or spent is no missing route. */
function asEngineError(error: ProviderError): ProviderError {
  if (error.kind !== 'rejected' || noAnswer.has(error.code ?? 0)) return error
  return new ProviderError('unavailable', error.message, error.code)
}
