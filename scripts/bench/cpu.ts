import { readFileSync } from 'node:fs'
import { inDatabase } from '../dev/postgres/session.js'

/** Linux counts a process's time in hundredths of a second. */
const ticksPerSecond = 100
const cpuMetric = /process_cpu_seconds_total ([\d.e+-]+)/

/** CPU seconds a server has used, as its `/metrics` says. */
export async function cpuOfServer(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(cpuMetric.exec(text)?.[1])
}

/** CPU seconds of all processes of a PostgreSQL on this machine that live now. Needs Linux's `/proc`. */
export async function cpuOfDatabase(url: string): Promise<number> {
  return inDatabase(url, async (client) => {
    const { rows } = await client.query('select pid from pg_stat_activity where pid <> pg_backend_pid()')
    return rows.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0)
  })
}

function cpuOfProcess(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  return (user + system) / ticksPerSecond
}
