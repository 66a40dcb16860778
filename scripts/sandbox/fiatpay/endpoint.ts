import type { CallCounter } from '../counters.js'
import { json, type NoAnswer, type Route, type SandboxAnswer, type SandboxRequest } from '../http-route.js'
import type { EndpointFault, FiatpayFaults } from './faults.js'
import { Refusal } from './refusal.js'

/** An endpoint of the provider's API. */
export type Endpoint = (request: SandboxRequest) => SandboxAnswer | NoAnswer

/** What every endpoint needs. */
export interface EndpointContext {
  readonly secretKey: string
  /** Accepted beside the secret key, until it ends. */
  readonly oldKey: string | undefined
  /** The only key that may send money, when there is one. */
  readonly payoutKey: string | undefined
  readonly faults: FiatpayFaults
  readonly calls: CallCounter
}

/** A failure that does not say whether the request was executed. */
export const serverError: SandboxAnswer = json(500, { status: false, message: 'An error occurred' })
export const garbage: SandboxAnswer = html(200, 'Bad Gateway')
export const down: SandboxAnswer = html(503, 'Service Unavailable')

/** The answer, or lack of one, for each fault. */
export const faultAnswers: Record<Exclude<EndpointFault, 'ok'>, SandboxAnswer | NoAnswer> = {
  timeout: 'hang',
  reset: 'reset',
  '500': serverError,
  garbage,
}

/** Data in the provider's envelope. */
export function ok(message: string, data: unknown, status = 200): SandboxAnswer {
  return json(status, { status: true, message, data })
}

/** A page of a list, in the same envelope. */
export function okPage(
  message: string,
  page: { readonly data: unknown; readonly meta: unknown },
): SandboxAnswer {
  return json(200, { status: true, message, ...page })
}

/** Calls an endpoint and turns a `Refusal` into its answer. */
export function answerOrRefusal(endpoint: Endpoint, request: SandboxRequest): SandboxAnswer | NoAnswer {
  try {
    return endpoint(request)
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

/** The endpoints that send money. */
const paying: readonly string[] = ['POST /transfer', 'POST /transferrecipient', 'POST /refund']

/** Makes a route of an endpoint: checks the secret key and counts the calls under the endpoint's name. */
export function serve(context: EndpointContext, name: string, endpoint: Endpoint): Route {
  const { faults, calls } = context
  return (request) => {
    calls.httpRequests += 1
    calls.add(name)
    const { secretKey, oldKey, payoutKey } = context
    const keys =
      paying.includes(name) && payoutKey !== undefined ? [payoutKey] : [secretKey, oldKey, payoutKey]
    const known = keys.some((key) => key !== undefined && request.headers.authorization === `Bearer ${key}`)
    if (!known || faults.refusesEveryKey) return new Refusal('invalid_Key').answer
    return answerOrRefusal(endpoint, request)
  }
}

function html(status: number, title: string): SandboxAnswer {
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body>${title}</body></html>`
  return { status, type: 'text/html', body }
}
