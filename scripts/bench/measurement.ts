import { existsSync, readFileSync } from 'node:fs'
import { withConnection } from '../dev/postgres/session.js'

/** The order of measurement in a round (from 1). Every second round is reversed, so that a drifting machine is fair to all. */
export function alternateOrder<Name extends string>(names: readonly Name[], round: number): readonly Name[] {
  return round % 2 === 0 ? names.toReversed() : names
}

/** The middle of an odd number of values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Linux counts a process's time in hundredths of a second. */
const ticksPerSecond = 100
const cpuMetric = /process_cpu_seconds_total ([\d.e+-]+)/

const memoryMetric = /process_resident_memory_bytes ([\d.e+-]+)/

/** CPU seconds a server has used, by its `/metrics`. */
export async function cpuOfServer(url: string): Promise<number> {
  return readMetric(url, cpuMetric)
}

/** The resident memory of a server in bytes, by its `/metrics`. */
export async function memoryOfServer(url: string): Promise<number> {
  return readMetric(url, memoryMetric)
}

async function readMetric(url: string, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(pattern.exec(text)?.[1])
}

/** CPU seconds of all running processes of a PostgreSQL on this machine. Needs Linux's `/proc`. */
export async function cpuOfDatabase(url: string): Promise<number> {
  return withConnection(url, async (client) => {
    const { rows } = await client.query('select pid from pg_stat_activity where pid <> pg_backend_pid()')
    return rows.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0)
  })
}

function cpuOfProcess(pid: number): number {
  const file = `/proc/${pid}/stat`
  // A worker of autovacuum may have ended meanwhile.
  if (!existsSync(file)) return 0
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? []
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  return (user + system) / ticksPerSecond
}
