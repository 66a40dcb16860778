import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 50

/**
 * Polls until the condition is true. False after `milliseconds`, or as soon as `mayStillHappen` returns false.
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  milliseconds: number,
  mayStillHappen: () => boolean = () => true,
): Promise<boolean> {
  const deadline = Date.now() + milliseconds
  for (; Date.now() < deadline && mayStillHappen(); await sleep(pollMs)) if (await condition()) return true
  return false
}
