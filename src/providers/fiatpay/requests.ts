import { z } from 'zod'
import { exchangeJson } from '../../platform/http-client.js'

/** Where the provider is, and who we are to it. */
export interface FiatpayAccess {
  readonly url: string
  readonly secretKey: string
}

export interface Reply {
  readonly status: number
  /** Undefined when it is not JSON. */
  readonly body: unknown
}

export type FiatpayRequest = (path: string, body?: unknown) => Promise<Reply>

const maxBytes = 256 * 1024

/**
 * One question to Paystack's API and whatever it answers: a GET, or a POST when there is a body. Throws ProviderError
 * when there is no whole answer within `timeoutMs`. What a refusal means depends on what was asked.
 */
export function createFiatpayRequest({ url, secretKey }: FiatpayAccess, timeoutMs: number): FiatpayRequest {
  const headers = { authorization: `Bearer ${secretKey}` }
  return (path, body) => {
    const method = body === undefined ? 'GET' : 'POST'
    return exchangeJson(`${url}${path}`, { method, headers, body, timeoutMs, maxBytes })
  }
}

/** What is read of Paystack's answers; they hold more. `status: true` says only that the call worked. */
export function answer<Data extends z.ZodType>(data: Data) {
  return z.object({ status: z.literal(true), data })
}

/** Its envelope around a refusal; not all of them have a code. */
export const refusal = z.object({
  status: z.literal(false),
  message: z.string().min(1),
  code: z.string().optional(),
})
