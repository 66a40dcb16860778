import { stopChild } from '../bootstrap/child-process.mjs'
import { freePort } from '../dev/ports.js'
import { respondsAt } from '../dev/probe.js'
import { startProgram } from '../dev/supervise.js'
import { type Defer, withClosing } from '../kit/closing.js'
import { type Servers, startServers } from '../kit/servers.js'
import { withFileLimit } from './file-limit.js'
import { cpuOfDatabase } from './measurement.js'

/** The servers of a benchmark: one PostgreSQL with durable commits, one Redis, and the measured services. */
export interface BenchServers extends Servers {
  /** CPU seconds used by PostgreSQL's processes. */
  databaseCpu(): Promise<number>
  /** Starts a server (a compiled script and its arguments) on a free port. Resolves with its URL. `files`: how many it may open. */
  serve(name: string, args: readonly string[], env: Record<string, string>, files?: number): Promise<string>
  readonly defer: Defer
}

const listenMs = 20_000
const stopMs = 22_000
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
    if (flags.some((flag) => flag.includes('pg_stat_statements')))
      await servers.sql('create extension pg_stat_statements')
    return work({
      ...servers,
      defer,
      databaseCpu: () => cpuOfDatabase(servers.databaseUrl),
      async serve(name, args, env, files) {
        const port = await freePort()
        const program =
          files === undefined ? { command: process.execPath, args: [...args] } : withFileLimit(files, args)
        const child = startProgram({
          ...program,
          signal: 'SIGTERM',
          env: { ...process.env, DATABASE_URL: servers.databaseUrl, ...env, PORT: String(port) },
        })
        defer(() => stopChild(child, stopMs))
        const url = `http://127.0.0.1:${port}`
        if (!(await respondsAt(`${url}/health`, listenMs, () => child.exitCode === null)))
          throw new Error(`${name} does not answer`)
        return url
      },
    })
  })
}
