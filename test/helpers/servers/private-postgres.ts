import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { freePort } from '../../../scripts/dev/ports.js'
import { postgresFiles } from '../../../scripts/dev/postgres/files.js'
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
export function privatePostgres(t: ExecutionContext): Promise<PrivatePostgres> {
  return startIn(t, temporaryFolder(t))
}

/** Starts a standby that streams from this server. It is made of the server's files, for which that is stopped and started again. */
export async function privateStandby(
  t: ExecutionContext,
  primary: PrivatePostgres,
): Promise<PrivatePostgres> {
  const dataDir = temporaryFolder(t)
  const { home } = postgresFiles(dataDir)
  const data = join(home, 'data')
  await primary.running.stop()
  execFileSync('cp', ['-a', join(postgresFiles(primary.dataDir).home, 'data'), data])
  writeFileSync(join(data, 'standby.signal'), '')
  await primary.startAgain()
  return startIn(t, dataDir, ['-c', `primary_conninfo=host=127.0.0.1 port=${primary.port} user=postgres`])
}

async function startIn(
  t: ExecutionContext,
  dataDir: string,
  flags: readonly string[] = [],
): Promise<PrivatePostgres> {
  const port = await freePort()
  async function start(): Promise<RunningPostgres> {
    const running = await startPostgres({
      dataDir,
      port,
      flags: ['-c', 'fsync=off', '-c', 'shared_buffers=32MB', ...flags],
    })
    t.teardown(running.stop)
    return running
  }
  return { dataDir, port, running: await start(), startAgain: start }
}
