import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Lets a fault that began at `since` (of `performance.now()`) last so many milliseconds in all. The one wait of a
 * fixed length in the tests, for faults whose length is what the service is asked to bear; anything else is waited
 * for with `until`.
 */
export async function outageLasts(since: number, milliseconds: number): Promise<void> {
  await sleep(Math.max(0, milliseconds - (performance.now() - since)))
}
