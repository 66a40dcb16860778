import { once } from 'node:events'
import { existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { endKept } from '../../bootstrap/keep.mjs'
import { takeLock } from '../../bootstrap/lock.mjs'
import { Refusal } from '../../bootstrap/progress.mjs'
import { type Program, startOnce } from '../supervise.js'
import { waitUntil } from '../wait-until.js'
import { clearLeftover } from './clear-leftover.js'
import { type PostgresFiles, postgresFiles } from './files.js'

const readyMs = 60_000
const stopMs = 20_000
const maxLogBytes = 16 * 1024 * 1024

/** `dataDir`: holds the data, the log and the lock. `flags`: further server settings, as `-c name=value`. */
export interface PostgresOptions {
  readonly dataDir: string
  readonly port: number
  readonly flags?: readonly string[]
}

/** What to start, under which address it will answer, and how to give the data folder back. */
export interface PreparedPostgres {
  readonly program: Program
  readonly url: (database: string) => string
  readonly release: () => void
}

/** A PostgreSQL of one's own. `kill` ends the server as a crash would; after it or `stop`, start it anew. */
export interface RunningPostgres {
  readonly url: (database: string) => string
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
}

/**
 * Makes a data folder ready to start on: locked for this process, freed of what a killed one left running, and
 * initialised when new. Throws a Refusal when another process uses the folder.
 */
export async function preparePostgres({
  dataDir,
  port,
  flags = [],
}: PostgresOptions): Promise<PreparedPostgres> {
  const files = postgresFiles(dataDir)
  const lock = takeLock(join(dataDir, 'postgres.lock'))
  if (!lock.taken) throw new Refusal(`a PostgreSQL runs on ${dataDir} already (process ${lock.pid})`)
  const data = join(files.home, 'data')
  const output = openLog(join(dataDir, 'postgres.log'))
  try {
    await clearLeftover(data)
    if (!existsSync(data)) await initialise(files, data, output)
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    program: { ...server(files, data, port, flags), output },
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    release: lock.release,
  }
}

/** Starts PostgreSQL and waits until it answers. It ends with this process, however that ends. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { program, url, release } = await preparePostgres(options)
  const child = startOnce(program)
  const exited = once(child, 'exit')
  try {
    await postgresReady(url('postgres'), () => child.exitCode === null)
  } catch (error) {
    await endKept(child, stopMs)
    release()
    throw error
  }
  return {
    url,
    stop: async () => {
      await endKept(child, stopMs)
      release()
    },
    kill: async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      await exited
      release()
    },
  }
}

/** Waits until PostgreSQL takes a connection; fails after a minute, or as soon as `alive` says there is nothing to wait for. */
export async function postgresReady(url: string, alive: () => boolean): Promise<void> {
  if (!(await waitUntil(() => takesConnections(url), readyMs, alive)))
    throw new Error('PostgreSQL did not start; postgres.log in the data folder says why')
}

async function takesConnections(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  const connected = await client.connect().then(
    () => true,
    () => false,
  )
  await client.end().catch(() => undefined)
  return connected
}

function server(
  { native, owner }: PostgresFiles,
  data: string,
  port: number,
  flags: readonly string[],
): Program {
  const address = ['-p', String(port), '-h', '127.0.0.1', '-k', '']
  const settings = ['-c', 'max_connections=200', '-c', 'shared_buffers=256MB']
  return {
    command: join(native, 'bin/postgres'),
    args: ['-D', data, ...address, ...settings, ...flags],
    // Fast shutdown: open transactions are rolled back, clients not waited for.
    signal: 'SIGINT',
    cwd: '/',
    ...owner,
  }
}

/** Encoding and locale are spelled out: a bare container has no LANG and would get SQL_ASCII. A half-made folder never counts. */
async function initialise(
  { native, home, owner }: PostgresFiles,
  data: string,
  output: number,
): Promise<void> {
  const draft = join(home, 'draft')
  rmSync(draft, { recursive: true, force: true })
  const locale = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
  const child = startOnce({
    command: join(native, 'bin/initdb'),
    args: ['-D', draft, '-U', 'postgres', '-A', 'trust', ...locale, '--no-sync'],
    signal: 'SIGTERM',
    cwd: '/',
    output,
    ...owner,
  })
  const [status] = await once(child, 'exit')
  child.stdin?.destroy()
  if (status !== 0) throw new Error('initdb failed; postgres.log in the data folder says why')
  renameSync(draft, data)
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return openSync(file, size > maxLogBytes ? 'w' : 'a')
}
