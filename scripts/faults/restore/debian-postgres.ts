import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from '../../bootstrap/progress.mjs'
import { freePort } from '../../dev/ports.js'
import { postgresReady } from '../../dev/postgres/postgres.js'
import { withConnection } from '../../dev/postgres/session.js'

const debianFolder = '/usr/lib/postgresql'
const programs = ['initdb', 'postgres', 'pg_dump', 'pg_restore']

/** The newest of Debian's PostgreSQL versions with a server and its clients. Throws a Refusal that names the package. */
function findBinaries(): string {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : []
  const found = versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(debianFolder, version, 'bin'))
    .find((folder) => programs.every((program) => existsSync(join(folder, program))))
  if (found === undefined) throw new Refusal("this needs Debian's PostgreSQL: install the package postgresql")
  return found
}

/** PostgreSQL refuses to run as root: then it runs as Debian's user of that name. */
function findOwner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** A server of Debian's PostgreSQL with an empty cluster of its own. */
export interface DebianPostgres {
  readonly version: string
  readonly url: string
  /** Makes a database from a file of `ops backup`. */
  restore(name: string, file: string): Promise<void>
  /** Ends it as a lost machine does, and deletes what it had. Again: nothing. */
  lose(): Promise<void>
}

const settings = ['max_connections=200', 'shared_buffers=128MB', 'listen_addresses=127.0.0.1']

/** Starts one on a free port, in a temporary folder. */
export async function startDebianPostgres(): Promise<DebianPostgres> {
  const bin = findBinaries()
  const owner = findOwner()
  const folder = mkdtempSync(join(tmpdir(), 'tipping-restore-'))
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  const run = (program: string, args: readonly string[]): void => {
    const options = { ...owner, cwd: folder, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(join(bin, program), args, options)
    if (status !== 0) throw new Error(`${program}: ${stderr}`)
  }
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'])
  const port = await freePort()
  const log = openSync(join(folder, 'postgres.log'), 'a')
  const flags = settings.flatMap((setting) => ['-c', setting])
  const args = ['-D', data, '-p', String(port), '-k', folder, ...flags]
  const server = spawn(join(bin, 'postgres'), args, { ...owner, cwd: folder, stdio: ['ignore', log, log] })
  const exited = once(server, 'exit')
  process.once('exit', () => server.kill('SIGQUIT'))
  const url = `postgres://postgres@127.0.0.1:${port}/`
  await postgresReady(`${url}postgres`, () => server.exitCode === null)
  return {
    version: spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout.trim(),
    url,
    async restore(name, file) {
      await withConnection(`${url}postgres`, (client) => client.query(`create database ${name}`))
      const target = ['--no-owner', '--exit-on-error', '--dbname', `${url}${name}`, file]
      const child = spawn(join(bin, 'pg_restore'), target, { stdio: ['ignore', log, log], cwd: folder })
      const [code] = await once(child, 'exit')
      if (code !== 0) throw new Error(`pg_restore ended with ${code}; see ${folder}/postgres.log`)
    },
    async lose() {
      // SIGQUIT: an immediate shutdown, which ends its children too.
      if (server.exitCode === null) server.kill('SIGQUIT')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
