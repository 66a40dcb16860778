import { once } from 'node:events'
import { existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { stopChild } from '../../bootstrap/child-process.mjs'
import { takeLock } from '../../bootstrap/lock.mjs'
import { Refusal } from '../../bootstrap/progress.mjs'
import type { ProcessGroup } from '../process-group.js'
import { type Program, startProgram } from '../supervise.js'
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

/** The program to start, the URL of a database on it, and how to release the data folder's lock. */
export interface PreparedPostgres {
  readonly program: Program
  readonly url: (database: string) => string
  readonly release: () => void
}

/** A running PostgreSQL. `kill` ends it like a crash. After `kill` or `stop`, call `startPostgres` again. */
export interface RunningPostgres {
  readonly url: (database: string) => string
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
}

/**
 * Makes a data folder ready to start on: locks it for this process, stops a leftover server, and initialises a new folder.
 * Throws a Refusal when another process uses the folder.
 */
export async function preparePostgres({
  dataDir,
  port,
  flags = [],
}: PostgresOptions): Promise<PreparedPostgres> {
  const files = postgresFiles(dataDir)
  const lock = takeLock(join(dataDir, 'postgres.lock'))
  if (!lock.taken)
    throw new Refusal(`PostgreSQL already runs on the data folder ${dataDir} (process ${lock.pid})`)
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

/** Starts PostgreSQL among these processes and waits until it answers. Returns how the URL of a database is made. */
export async function supervisePostgres(
  processes: ProcessGroup,
  options: PostgresOptions,
): Promise<PreparedPostgres['url']> {
  const { program, url, release } = await preparePostgres(options)
  process.once('exit', release)
  processes.start('database', 'postgres', program)
  await postgresReady(url('postgres'), () => processes.mayStillStart)
  return url
}

/** Starts PostgreSQL and waits until it answers. It ends when this process ends, even by SIGKILL. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { program, url, release } = await preparePostgres(options)
  const child = startProgram(program)
  const exited = once(child, 'exit')
  try {
    await postgresReady(url('postgres'), () => child.exitCode === null)
  } catch (error) {
    await stopChild(child, stopMs)
    release()
    throw error
  }
  return {
    url,
    stop: async () => {
      await stopChild(child, stopMs)
      release()
    },
    kill: async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      await exited
      release()
    },
  }
}

/** Waits until PostgreSQL accepts connections. Throws after a minute, or as soon as `mayStillStart` returns false. */
export async function postgresReady(url: string, mayStillStart: () => boolean): Promise<void> {
  if (!(await waitUntil(() => takesConnections(url), readyMs, mayStillStart)))
    throw new Error('PostgreSQL did not start; see postgres.log in the data folder')
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
    // Fast shutdown: rolls back open transactions and does not wait for clients.
    signal: 'SIGINT',
    cwd: '/',
    ...owner,
  }
}

/**
 * Sets encoding and locale explicitly, because a bare container without LANG would get SQL_ASCII. Works in a draft folder
 * and renames it, so that an interrupted initdb leaves no half-made cluster.
 */
async function initialise(
  { native, home, owner }: PostgresFiles,
  data: string,
  output: number,
): Promise<void> {
  const draft = join(home, 'draft')
  rmSync(draft, { recursive: true, force: true })
  const locale = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
  const child = startProgram({
    command: join(native, 'bin/initdb'),
    args: ['-D', draft, '-U', 'postgres', '-A', 'trust', ...locale, '--no-sync'],
    signal: 'SIGTERM',
    cwd: '/',
    output,
    ...owner,
  })
  const [status] = await once(child, 'exit')
  child.stdin?.destroy()
  if (status !== 0) throw new Error('initdb failed; see postgres.log in the data folder')
  renameSync(draft, data)
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return openSync(file, size > maxLogBytes ? 'w' : 'a')
}
