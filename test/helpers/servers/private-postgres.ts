import type { ExecutionContext } from 'ava'
import { freePort } from '../../../scripts/dev/ports.js'
import { type RunningPostgres, startPostgres } from '../../../scripts/dev/postgres/postgres.js'
import { temporaryFolder } from '../temporary-folder.js'

/** A PostgreSQL server for one test, which may kill it and start it again on the same data and port. */
export interface PrivatePostgres {
  readonly dataDir: string
  readonly port: number
  readonly running: RunningPostgres
  readonly startAgain: () => Promise<RunningPostgres>
}

/** Starts a PostgreSQL server for this test, in about two seconds. It is stopped and removed after the test. */
export async function privatePostgres(t: ExecutionContext): Promise<PrivatePostgres> {
  const dataDir = temporaryFolder(t)
  const port = await freePort()
  async function start(): Promise<RunningPostgres> {
    const running = await startPostgres({
      dataDir,
      port,
      flags: ['-c', 'fsync=off', '-c', 'shared_buffers=32MB'],
    })
    t.teardown(running.stop)
    return running
  }
  return { dataDir, port, running: await start(), startAgain: start }
}
