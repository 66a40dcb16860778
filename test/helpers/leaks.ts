import { setImmediate as nextTurn } from 'node:timers/promises'
import { countSessions, type TestDatabase } from './servers/database.js'
import { until } from './until.js'

const patienceMs = 3000
const sockets = new Set(['TCPSocketWrap', 'TCPServerWrap', 'TCPConnectWrap'])

/**
 * Fails a test file that leaves database sessions or TCP handles open: what leaks in a test leaks in production.
 * Closing takes a moment, so it is given one.
 */
export async function refuseLeaks(database: TestDatabase): Promise<void> {
  let open = ''
  async function nothingOpen(): Promise<boolean> {
    open = await stillOpen(database)
    return open === ''
  }
  await until('everything is closed', nothingOpen, patienceMs).catch((error: unknown) => {
    throw new Error(`left open: ${open}`, { cause: error })
  })
}

async function stillOpen(database: TestDatabase): Promise<string> {
  const sessions = await countSessions(database)
  // The question's own connection may take a turn of the event loop to be gone.
  await nextTurn()
  const handles = process.getActiveResourcesInfo().filter((kind) => sockets.has(kind))
  return [...(sessions > 0 ? [`${sessions} database sessions`] : []), ...handles].join(', ')
}
