import type { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import { createFiatpayRequest, type FiatpayAccess, type Reply, refusal } from './requests.js'

const refusalLength = 200
/** Statuses that say what the request was worth; the provider's other 4xx are about us or about its load. */
const aboutTheRequest = new Set([400, 404, 422])

type Ask = <Schema extends z.ZodType>(
  path: string,
  answer: Schema,
  body?: unknown,
) => Promise<z.output<Schema>>

/**
 * Asks one thing of Paystack's API and reads the answer: a GET, or a POST of the body. Throws ProviderError, `rejected`
 * with the provider's text when it refuses what is asked. Not for what sends money, where a refusal has to be documented.
 */
export function createFiatpayQuery(access: FiatpayAccess, timeoutMs: number): Ask {
  const exchange = createFiatpayRequest(access, timeoutMs)
  return async (path, answer, body) => {
    const reply = await exchange(path, body)
    if (reply.status >= 400) throw failureOf(reply)
    const parsed = answer.safeParse(reply.body)
    if (!parsed.success) throw new ProviderError('ambiguous', 'fiatpay did not answer as documented')
    return parsed.data
  }
}

/** For `catch`: what the provider answers 404 to it does not have. That refusal has no code, so the status alone says it. */
export function absentWhenNotFound(error: unknown): undefined {
  if (error instanceof ProviderError && error.kind === 'rejected' && error.code === 404) return undefined
  throw error
}

/** Our key, our rights and the provider's load are nobody else's fault: those refusals count as not asked. */
function failureOf({ status, body }: Reply): ProviderError {
  if (status >= 500 && status !== 503)
    return new ProviderError('ambiguous', `fiatpay answered ${status}`, status)
  const text = refusal.safeParse(body).data?.message
  if (!aboutTheRequest.has(status) || text === undefined)
    return new ProviderError('unavailable', `fiatpay answered ${status}`, status)
  return new ProviderError('rejected', cleanLine(text, refusalLength), status)
}
