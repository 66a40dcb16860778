import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 50

/**
 * Asks again and again until something holds. False after so many milliseconds, or as soon as `hopeful` says that
 * there is nothing to wait for.
 */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  milliseconds: number,
  hopeful: () => boolean = () => true,
): Promise<boolean> {
  for (const deadline = Date.now() + milliseconds; Date.now() < deadline && hopeful(); await sleep(pollMs))
    if (await holds()) return true
  return false
}
