import { setTimeout as sleep } from 'node:timers/promises'
import { exitForBadSettings } from '../config/start-settings.js'
import type { Log } from '../log.js'
import { isDatabaseUnavailable } from './connections/unavailable.js'

/** After this time the process ends, and its supervisor starts it again. */
const checkForMs = 20_000
const checkPauseMs = 500

/**
 * Compares settings with the database before a process starts. Waits for a database that is still starting. `goesOn`: asked before
 * each further try; without it the process ends after 20 s.
 */
export async function checkOrExit(
  log: Log,
  check: () => Promise<unknown>,
  goesOn?: () => boolean,
): Promise<void> {
  const deadline = performance.now() + checkForMs
  const mayWait = goesOn ?? (() => performance.now() < deadline)
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (goesOn?.() === false) return
      if (!isDatabaseUnavailable(error) || !mayWait()) exitForBadSettings(error)
      log.warn({ err: error }, 'the database is unavailable; the start waits for it')
    }
    await sleep(checkPauseMs)
  }
}
