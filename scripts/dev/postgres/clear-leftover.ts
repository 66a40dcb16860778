import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '../wait-until.js'

const fastShutdownMs = 15_000
const immediateShutdownMs = 5_000

/**
 * Makes a data folder ready to start on. Stops a PostgreSQL that still runs there because its parent was killed. Removes a
 * pid file whose process has ended, or whose pid now belongs to another program: PostgreSQL would mistake that program
 * for itself and refuse to start. The caller holds the folder's lock.
 */
export async function clearLeftover(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid')
  const pid = pidIn(file)
  if (pid === undefined) return
  if (runsOn(pid, data)) {
    process.kill(pid, 'SIGINT')
    const hasEnded = (): boolean => !runsOn(pid, data)
    if (!(await waitUntil(hasEnded, fastShutdownMs))) {
      process.kill(pid, 'SIGQUIT')
      await waitUntil(hasEnded, immediateShutdownMs)
    }
    if (!hasEnded()) throw new Error(`PostgreSQL (process ${pid}) on ${data} does not stop`)
  }
  rmSync(file, { force: true })
}

function pidIn(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function runsOn(pid: number, data: string): boolean {
  const words = commandLine(pid)
  return words.includes('postgres') && words.includes(data)
}

function commandLine(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
