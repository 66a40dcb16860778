import { TippingError } from '../../sdk/client/errors.js'
import { pause } from '../../sdk/client/wait.js'

/** Whether a failure passes by itself: no connection, a service that restarts, a proxy's own answer. A page shows what a 409 waits for. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof TippingError) || error.status === 409) return false
  return error.temporary || error.code === 'bad_answer'
}

/** Whether the service gave no answer of its own. A refusal of too many requests is one. */
export function isUnanswered(error: unknown): boolean {
  return isPassing(error) && (error as TippingError).status !== 429
}

interface Repetition {
  /** Before each repetition; the last one repeats. */
  readonly pausesMs: readonly number[]
  readonly mayRepeat: (error: unknown, tries: number) => boolean
  readonly signal?: AbortSignal
}

/** Asks until there is an answer, or a failure that may not be repeated, which it throws. */
export async function untilAnswered<Answer>(
  ask: () => Promise<Answer>,
  { pausesMs, mayRepeat, signal }: Repetition,
): Promise<Answer> {
  for (let tries = 0; ; tries++)
    try {
      return await ask()
    } catch (error) {
      if (signal?.aborted || !mayRepeat(error, tries)) throw error
      await pause(pausesMs[Math.min(tries, pausesMs.length - 1)] ?? 0, signal)
    }
}
