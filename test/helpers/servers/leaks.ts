import { setImmediate as nextTurn } from 'node:timers/promises'
import { until } from '../until.js'
import { countSessions, type TestDatabase } from './database.js'

const closeMs = 30_000
const sockets = new Set(['TCPSocketWrap', 'TCPServerWrap', 'TCPConnectWrap'])

/** Throws when database sessions or TCP handles of a test file are still open after three seconds. */
export async function assertNothingOpen(database: TestDatabase): Promise<void> {
  let open = ''
  async function nothingOpen(): Promise<boolean> {
    open = await stillOpen(database)
    return open === ''
  }
  await until('everything is closed', nothingOpen, closeMs).catch((error: unknown) => {
    throw new Error(`left open: ${open}`, { cause: error })
  })
}

async function stillOpen(database: TestDatabase): Promise<string> {
  const sessions = await countSessions(database)
  // The connection of this query may need one turn of the event loop to close.
  await nextTurn()
  const handles = process.getActiveResourcesInfo().filter((kind) => sockets.has(kind))
  return [...(sessions > 0 ? [`${sessions} database sessions`] : []), ...handles].join(', ')
}
