import type { CallCounter } from '../call-counter.js'
import { json, type Mishap, type Route, type SandboxAnswer, type SandboxRequest } from '../exchange.js'
import type { Behaviour, Trouble } from './behaviour.js'
import { Refusal } from './refusal.js'

/** What an endpoint of the provider's API answers, or fails to. */
export type Endpoint = (request: SandboxRequest) => SandboxAnswer | Mishap

/** What every endpoint is served with. */
export interface Counter {
  readonly secretKey: string
  readonly behaviour: Behaviour
  readonly calls: CallCounter
}

/** A failure that tells nothing about what was done. */
export const serverError: SandboxAnswer = json(500, { status: false, message: 'An error occurred' })
export const garbage: SandboxAnswer = html(200, 'Bad Gateway')
export const down: SandboxAnswer = html(503, 'Service Unavailable')

/** What is heard instead of an answer. */
export const troubled: Record<Exclude<Trouble, 'ok'>, SandboxAnswer | Mishap> = {
  timeout: 'silence',
  reset: 'reset',
  '500': serverError,
  garbage,
}

/** The provider's envelope around data. */
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

/** The answer to a request; what the provider refuses, in its own words. */
export function answered(endpoint: Endpoint, request: SandboxRequest): SandboxAnswer | Mishap {
  try {
    return endpoint(request)
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

/** Serves an endpoint to those who have the secret key, and counts the calls under its name. */
export function serve({ secretKey, behaviour, calls }: Counter, name: string, endpoint: Endpoint): Route {
  return (request) => {
    calls.httpRequests += 1
    calls.add(name)
    const known = request.headers.authorization === `Bearer ${secretKey}`
    if (!known || behaviour.refusesKey) return new Refusal('invalid_Key').answer
    return answered(endpoint, request)
  }
}

function html(status: number, title: string): SandboxAnswer {
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body>${title}</body></html>`
  return { status, type: 'text/html', body }
}
