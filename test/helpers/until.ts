import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 20
const defaultMs = 10_000

/** Waits until a condition holds and fails, naming it, when it does not within the time. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  milliseconds = defaultMs,
): Promise<void> {
  for (const deadline = Date.now() + milliseconds; !(await holds()); await sleep(pollMs))
    if (Date.now() > deadline) throw new Error(`not within ${milliseconds} ms: ${what}`)
}
