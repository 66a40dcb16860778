import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { RefusedError } from './order.js'

/** Where Debian's packages put the programs of each version. */
const debianFolder = '/usr/lib/postgresql'

interface PgDump {
  readonly path: string
  readonly version: number
}

function versionOf(path: string): number | undefined {
  const { stdout, status } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  const version = Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1])
  return status === 0 && version > 0 ? version : undefined
}

/**
 * The pg_dump to use with a server of this major version: the oldest that is not older than the server. `given`: the only one to
 * look at. Throws RefusedError with the way out.
 */
export function findPgDump(serverVersion: number, given?: string): PgDump {
  const folders = existsSync(debianFolder) ? readdirSync(debianFolder) : []
  const paths =
    given === undefined ? ['pg_dump', ...folders.map((one) => `${debianFolder}/${one}/bin/pg_dump`)] : [given]
  const found = paths.flatMap((path): PgDump[] => {
    const version = versionOf(path)
    return version === undefined ? [] : [{ path, version }]
  })
  const [best] = found
    .filter(({ version }) => version >= serverVersion)
    .sort((one, other) => one.version - other.version)
  if (best !== undefined) return best
  const seen = found.map(({ path, version }) => `${path} is ${version}`).join(', ') || 'none was found'
  throw new RefusedError(
    `the server is PostgreSQL ${serverVersion}, and pg_dump must not be older: ${seen}. Install the client programs of ` +
      `version ${serverVersion} (Debian: postgresql-client-${serverVersion}), or name one with --pg-dump <path>`,
  )
}

/**
 * Writes a dump in the custom format. The file has its name only once it is whole and on the disk; whatever ends this process
 * before, there is none. Throws RefusedError with what pg_dump says.
 */
export async function dumpDatabase({ path }: PgDump, databaseUrl: string, file: string): Promise<number> {
  const part = `${file}.part`
  // The password is not an argument: those everybody on the machine can read.
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  const draft = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new RefusedError(`${part} exists: another backup is running, or one was killed. Delete it then`)
    throw new RefusedError(`${part} cannot be written: ${error.message}`)
  })
  try {
    const said = await run(path, ['--format=custom', '--no-password', `--dbname=${url.href}`], draft.fd, {
      ...process.env,
      ...(password === '' ? {} : { PGPASSWORD: password }),
    })
    if (said !== undefined) throw new RefusedError(`pg_dump failed, and there is no backup: ${said}`)
    await draft.sync()
    const { size } = await draft.stat()
    await rename(part, file)
    return size
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    await draft.close()
  }
}

/** Undefined: it ended well. Otherwise what it said. A signal to this process ends it too. */
function run(
  path: string,
  args: readonly string[],
  output: number,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: ['ignore', output, 'pipe'], env })
    const stop = (): void => void child.kill('SIGTERM')
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    for (const signal of signals) process.on(signal, stop)
    let said = ''
    child.stderr?.on('data', (text) => {
      said = `${said}${text}`.slice(-2000)
    })
    const end = (): void => {
      for (const signal of signals) process.off(signal, stop)
    }
    child.once('error', (error) => {
      end()
      reject(error)
    })
    child.once('close', (code, signal) => {
      end()
      resolve(code === 0 ? undefined : said.trim() || `it ended with ${signal ?? code}`)
    })
  })
}
