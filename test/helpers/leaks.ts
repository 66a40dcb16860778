import { setTimeout as sleep } from 'node:timers/promises'
import { countSessions, type TestDatabase } from './database.js'

const patienceMs = 3000
const pollMs = 20
const sockets = new Set(['TCPSocketWrap', 'TCPServerWrap', 'TCPConnectWrap'])

/**
 * Fails a test file that leaves database sessions or TCP handles open: what leaks in a test leaks in production.
 * Closing takes a moment, so it is given one.
 */
export async function refuseLeaks(database: TestDatabase): Promise<void> {
  let open = await stillOpen(database)
  for (const deadline = Date.now() + patienceMs; open !== '' && Date.now() < deadline; await sleep(pollMs))
    open = await stillOpen(database)
  if (open !== '') throw new Error(`left open: ${open}`)
}

async function stillOpen(database: TestDatabase): Promise<string> {
  const sessions = await countSessions(database)
  // The question's own connection may take a turn of the event loop to be gone.
  await sleep(0)
  const handles = process.getActiveResourcesInfo().filter((kind) => sockets.has(kind))
  return [...(sessions > 0 ? [`${sessions} database sessions`] : []), ...handles].join(', ')
}
