import { json, type NoAnswer, type SandboxAnswer, type SandboxRequest } from '../http-route.js'
import type { Fiatpay } from './fiatpay.js'
import { Refusal } from './refusal.js'

type Answer = SandboxAnswer | NoAnswer

/** An endpoint of the provider's API. */
export type Endpoint = (fiatpay: Fiatpay, request: SandboxRequest) => Answer

export const down: SandboxAnswer = html(503, 'Service Unavailable')

/** The answer, or lack of one, of each fault. None says whether the request was executed. */
const faultAnswers: Readonly<Record<string, Answer>> = {
  timeout: 'hang',
  reset: 'reset',
  'refuse-connection': 'reset',
  '500': json(500, { status: false, message: 'An error occurred' }),
  garbage: html(200, 'Bad Gateway'),
  down,
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

/** The answer of an action, or of the `Refusal` that it throws. */
export function answerOrRefusal(act: () => Answer): Answer {
  try {
    return act()
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

/** Answers as a mode says: with its fault instead of acting, with its fault after acting (`accept-then-`), or honestly. */
export function answerInMode(mode: string, act: () => Answer): Answer {
  const fault = faultAnswers[mode.replace('accept-then-', '')]
  if (fault !== undefined && !mode.startsWith('accept-then-')) return fault
  const answer = answerOrRefusal(act)
  return fault ?? answer
}

function html(status: number, title: string): SandboxAnswer {
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body>${title}</body></html>`
  return { status, type: 'text/html', body }
}
