import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '../wait-until.js'

const orderlyMs = 15_000
const immediateMs = 5_000

/**
 * Makes a data folder free to start on. A PostgreSQL that still runs there (its starter was killed) is stopped in
 * order. A pid file whose process is gone, or is another program that was given the same number since, is removed:
 * PostgreSQL itself would take that program for its older self and refuse to start. Call it holding the folder's lock.
 */
export async function clearLeftover(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid')
  const pid = pidIn(file)
  if (pid === undefined) return
  if (runsOn(pid, data)) {
    process.kill(pid, 'SIGINT')
    const gone = (): boolean => !runsOn(pid, data)
    if (!(await waitUntil(gone, orderlyMs))) {
      process.kill(pid, 'SIGQUIT')
      await waitUntil(gone, immediateMs)
    }
    if (!gone()) throw new Error(`PostgreSQL (process ${pid}) on ${data} does not stop`)
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
