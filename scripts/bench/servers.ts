import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import pg from 'pg'
import { stopChild } from '../bootstrap/child-process.mjs'
import { Refusal } from '../bootstrap/progress.mjs'
import { webProgram } from '../dev/built.js'
import { freePort } from '../dev/ports.js'
import { respondsAt } from '../dev/probe.js'
import { startProgram } from '../dev/supervise.js'
import { type Defer, withClosing } from '../kit/closing.js'
import { type Servers, startServers } from '../kit/servers.js'
import { serviceSettings } from '../kit/service-settings.js'

/** A measured server. */
export interface Served {
  readonly url: string
  readonly metricsUrl: string
}

/** CPU seconds of a server and of PostgreSQL, and statements. */
type Used = readonly [server: number, database: number, statements: number]

/** The servers of a benchmark: one PostgreSQL with durable commits, one Redis, and the measured services. */
export interface BenchServers extends Servers {
  readonly defer: Defer
  /** Reads what PostgreSQL has used. Stays open: to open one and to end it costs PostgreSQL more than some of what is measured. */
  readonly meter: pg.Client
  /** Starts a server (a compiled script and its arguments) on a free port. Resolves with its URL. `files`: how many it may open, and its memory is read. */
  serve(name: string, args: readonly string[], env: Record<string, string>, files?: number): Promise<string>
  /** Starts a web process. */
  serveWeb(settings?: Record<string, string>, files?: number): Promise<Served>
  /** What was used so far. Statements are counted with `countStatements`. */
  used(metricsUrl: string): Promise<Used>
}

const listenMs = 20_000
const stopMs = 22_000
const collectsGarbage = ['--expose-gc', '--import', './dist/scripts/bench/collect-garbage.js']
/** Settings of PostgreSQL that let it count statements. */
export const countStatements = ['-c', 'shared_preload_libraries=pg_stat_statements']

/** Starts the servers of one benchmark, and closes all that it has deferred. `flags`: further settings of PostgreSQL. */
export function onServers<Result>(
  work: (servers: BenchServers) => Promise<Result>,
  flags: readonly string[] = [],
  dataDir = '.data/bench',
): Promise<Result> {
  return withClosing(async (defer) => {
    // Without flags PostgreSQL's default durability settings: every commit waits for the disk.
    const servers = await startServers(dataDir, defer, flags)
    const { databaseUrl } = servers
    const meter = new pg.Client({ connectionString: databaseUrl })
    await meter.connect()
    defer(() => meter.end())
    const counts = flags.some((flag) => flag.includes('pg_stat_statements'))
    if (counts) await servers.sql('create extension pg_stat_statements')
    const serve: BenchServers['serve'] = async (name, args, env, files) => {
      const port = await freePort()
      const program =
        files === undefined
          ? { command: process.execPath, args: [...args] }
          : withFileLimit(files, [...collectsGarbage, ...args])
      const child = startProgram({
        ...program,
        signal: 'SIGTERM',
        env: { ...process.env, DATABASE_URL: databaseUrl, ...env, PORT: String(port) },
      })
      defer(() => stopChild(child, stopMs))
      const url = `http://127.0.0.1:${port}`
      if (!(await respondsAt(`${url}/health`, listenMs, () => child.exitCode === null)))
        throw new Error(`${name} does not answer`)
      return url
    }
    return work({
      ...servers,
      defer,
      meter,
      serve,
      async serveWeb(settings = {}, files = undefined) {
        const port = await freePort()
        const env = { ...serviceSettings(servers), ...settings, METRICS_PORT: String(port) }
        const url = await serve('service', [webProgram], env, files)
        return { url, metricsUrl: `http://127.0.0.1:${port}` }
      },
      async used(metricsUrl) {
        const [server, database] = [await cpuOfServer(metricsUrl), await cpuOfDatabase(meter)]
        return [server, database, counts ? await statementsOf(meter) : 0]
      },
    })
  })
}

/** CPU in microseconds and statements, for one operation. */
export interface Use {
  readonly serverUs: number
  readonly databaseUs: number
  readonly statements: number
}

/** What each of so many operations used. */
export function useOf(count: number, before: Used, after: Used): Use {
  const each = (n: 0 | 1 | 2): number => (after[n] - before[n]) / count
  return { serverUs: each(0) * 1e6, databaseUs: each(1) * 1e6, statements: each(2) }
}

/** How to run a script of Node with so many open files. */
export function withFileLimit(files: number, args: readonly string[]): { command: string; args: string[] } {
  return { command: 'sh', args: ['-c', `ulimit -n ${files} && exec "$0" "$@"`, process.execPath, ...args] }
}

/** Refuses when this user may not open so many files in one process. */
export async function checkFileLimit(files: number): Promise<void> {
  await promisify(execFile)('sh', ['-c', `ulimit -n ${files}`]).catch(() => {
    throw new Refusal(
      `this needs ${files} open files in one process, and the hard limit is below that: raise it with "ulimit -Hn ${files}" as root`,
    )
  })
}

/** CPU seconds a server has used, by its `/metrics`. */
export const cpuOfServer = (url: string): Promise<number> => readMetric(url, 'process_cpu_seconds_total')

/** The resident memory of a server in bytes, by its `/metrics`. */
export const memoryOfServer = (url: string): Promise<number> =>
  readMetric(url, 'process_resident_memory_bytes')

async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`${name} ([\\d.e+-]+)`).exec(text)?.[1])
}

/** Linux counts a process's time in hundredths of a second. */
const ticksPerSecond = 100

/** CPU seconds of a PostgreSQL on this machine, with those of its processes that have ended. Needs Linux's `/proc`. */
export async function cpuOfDatabase(meter: pg.Client): Promise<number> {
  const { rows } = await meter.query('select pid, pid = pg_backend_pid() as "isOwn" from pg_stat_activity')
  const own = rows.find(({ isOwn }) => isOwn)
  const server = statOf(own.pid)[parentField] ?? 0
  return rows
    .filter(({ isOwn }) => !isOwn)
    .reduce(
      (sum, { pid }) => sum + secondsIn(pid, cpuFields),
      secondsIn(server, [...cpuFields, ...endedFields]),
    )
}

/** In `/proc/<pid>/stat` after the name: the parent, the time of the process, and that of its children that have ended. */
const parentField = 1
const cpuFields = [11, 12]
const endedFields = [13, 14]

function secondsIn(pid: number, fields: readonly number[]): number {
  const stat = statOf(pid)
  return fields.reduce((sum, field) => sum + (stat[field] ?? 0), 0) / ticksPerSecond
}

function statOf(pid: number): number[] {
  const file = `/proc/${pid}/stat`
  // A worker of autovacuum may have ended meanwhile.
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').split(') ')[1]?.split(' ').map(Number) ?? []
}

/** The statements run so far in the database, as PostgreSQL counts them, without those that a benchmark marks as its own. */
async function statementsOf(meter: pg.Client): Promise<number> {
  const { rows } = await meter.query(
    `select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements s
     join pg_database d on d.oid = s.dbid where datname = current_database() and query not like '%/* bench */%'`,
  )
  return rows[0].calls
}
