import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { stopChild } from '../bootstrap/child-process.mjs'
import { Refusal } from '../bootstrap/progress.mjs'
import { freePort } from '../dev/ports.js'
import { postgresReady } from '../dev/postgres/postgres.js'
import { startProgram } from '../dev/supervise.js'
import { waitUntil } from '../dev/wait-until.js'
import type { Defer } from './closing.js'

const run = promisify(execFile)
const home = '/usr/lib/postgresql'
const stopMs = 20_000

/** A running server. */
interface Running {
  readonly child: ReturnType<typeof startProgram>
  readonly exited: Promise<unknown>
}

/** The user that PostgreSQL runs as: for root the one that Debian's packages make. */
function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Makes a folder that PostgreSQL's user can reach and write to. */
export function folderForServer(folder: string, name: string): string {
  const { uid, gid } = serverUser()
  const made = join(folder, name)
  mkdirSync(made, { mode: 0o700, recursive: true })
  if (uid !== undefined && gid !== undefined) chownSync(made, uid, gid)
  return made
}

/** A started primary with the schema of the service, and a new folder for each of its standbys. */
export async function startPrimary(
  folder: string,
  defer: Defer,
): Promise<{ readonly primary: DebianPostgres; readonly nextFolder: () => string }> {
  const log = `${folderForServer(folder, 'logs')}/postgres.log`
  let made = 0
  const nextFolder = () => folderForServer(folder, `data-${made++}`)
  const primary = await DebianPostgres.create(nextFolder(), log)
  defer(() => primary.kill())
  await primary.start()
  await migrateToLatest(primary.url)
  return { primary, nextFolder }
}

/** Debian's newest PostgreSQL: the one of the npm package has no pg_basebackup. */
function debianBinaries(): string {
  const versions = existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions
    .map((version) => join(home, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'pg_basebackup')))
  if (found === undefined)
    throw new Refusal('PostgreSQL is missing: install the Debian package postgresql, it needs not run')
  return found
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A PostgreSQL of Debian with its own data folder, which is crashed, stopped and started on one port. */
export class DebianPostgres {
  readonly url: string
  readonly #bin = debianBinaries()
  readonly #data: string
  readonly #port: number
  readonly #flags: readonly string[]
  readonly #log: string
  #running: Running | undefined

  private constructor(data: string, port: number, log: string, flags: readonly string[]) {
    this.#data = data
    this.#port = port
    this.#log = log
    this.#flags = flags
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`
  }

  /** A new cluster in an empty folder of the server's user. */
  static async create(data: string, log: string, flags: readonly string[] = []): Promise<DebianPostgres> {
    const made = new DebianPostgres(data, await freePort(), log, flags)
    const superuser = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8']
    await made.#run('initdb', '-D', data, ...superuser, '--no-sync')
    return made
  }

  /** A standby of this server in an empty folder. It is not started yet. */
  async copy(data: string): Promise<DebianPostgres> {
    const made = new DebianPostgres(data, await freePort(), this.#log, this.#flags)
    const from = ['-h', '127.0.0.1', '-p', String(this.#port), '-U', 'postgres']
    await this.#run('pg_basebackup', ...from, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync')
    return made
  }

  get #runs(): boolean {
    return this.#running?.child.exitCode === null && this.#running.child.signalCode === null
  }

  /** Starts its process, and waits until it answers. Throws when it ends before that. */
  async start(): Promise<void> {
    const output = openSync(this.#log, 'a')
    const child = startProgram({
      command: join(this.#bin, 'postgres'),
      args: ['-D', this.#data, '-p', String(this.#port), '-h', '127.0.0.1', '-k', '', ...this.#flags],
      signal: 'SIGINT',
      cwd: '/',
      output,
      ...serverUser(),
    })
    this.#running = { child, exited: once(child, 'exit') }
    await postgresReady(this.url, () => this.#runs)
  }

  /** Ends it like a crash of the machine. */
  async kill(): Promise<void> {
    const running = this.#running
    if (running?.child.pid === undefined || !this.#runs) return
    const pid = Number(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(-running.child.pid, 'SIGKILL')
    await running.exited
    // The next start refuses as long as the server's process id is in use.
    if (!(await waitUntil(() => !isAlive(pid), stopMs))) throw new Error(`PostgreSQL ${pid} outlives SIGKILL`)
  }

  async stop(): Promise<void> {
    if (this.#running !== undefined) await stopChild(this.#running.child, stopMs)
  }

  async promote(): Promise<void> {
    await this.#run('pg_ctl', '-D', this.#data, '-w', 'promote')
  }

  /** Its version, such as `postgres (PostgreSQL) 15.4`. */
  get version(): string {
    return spawnSync(join(this.#bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout.trim()
  }

  /** Makes the content of the database from a file of `ops backup`. */
  async restore(file: string): Promise<void> {
    const target = ['--no-owner', '--exit-on-error', '--dbname', this.url, file]
    await run(join(this.#bin, 'pg_restore'), target, { cwd: '/' })
  }

  async #run(program: string, ...args: readonly string[]): Promise<void> {
    await run(join(this.#bin, program), [...args], { cwd: '/', ...serverUser() })
  }
}
