import { TippingError } from '../../sdk/client/errors.js'

/** Whether a failure passes by itself: no connection, a service that restarts, a proxy's own answer. */
export function isPassing(error: unknown): boolean {
  return error instanceof TippingError && (error.temporary || error.code === 'bad_answer')
}

/** Whether the service gave no answer of its own. A refusal of too many requests is one. */
export function isUnanswered(error: unknown): boolean {
  return isPassing(error) && (error as TippingError).status !== 429
}
