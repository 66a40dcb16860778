import { spawnSync } from 'node:child_process'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Takes a lock file for this process. Replaces a lock whose process no longer runs (SIGKILL, power failure).
 * @param {string} file
 * @returns {{ taken: true, afterCrash: boolean, release: () => void } | { taken: false, pid: number }}
 *   `afterCrash`: the last holder did not release it, so its child processes may still be ending
 */
export function takeLock(file) {
  const mine = JSON.stringify({ pid: process.pid, born: bornAt(process.pid) })
  for (let afterCrash = false; ; ) {
    if (place(file, mine)) return { taken: true, afterCrash, release: () => release(file, mine) }
    const found = readIfThere(file)
    const holder = parse(found)
    if (holder !== null && bornAt(holder.pid) === holder.born) return { taken: false, pid: holder.pid }
    if (found !== undefined && removeStale(file, found)) afterCrash = true
  }
}

/** Creates the lock as a hard link, which is atomic: no process reads a half-written lock. */
function place(file, text) {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text)
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Two processes may find the same stale lock. A process that moved away a new lock instead puts it back. */
function removeStale(file, stale) {
  const aside = `${file}.${process.pid}.stale`
  try {
    renameSync(file, aside)
    if (readFileSync(aside, 'utf8') === stale) return true
    linkSync(aside, file)
    return false
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function release(file, mine) {
  if (readIfThere(file) === mine) rmSync(file, { force: true })
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Null when there is no file or it is not a lock. */
function parse(text) {
  try {
    const { pid, born } = JSON.parse(text)
    return Number.isInteger(pid) && typeof born === 'string' ? { pid, born } : null
  } catch {
    return null
  }
}

/** When a process started; undefined when it does not run. A pid alone is not enough, since it may be reused. */
function bornAt(pid) {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    return stdout?.trim() || undefined
  }
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The name in parentheses may contain spaces, so fields are counted after it. Field 22 is the start time since boot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startTime] = [fields[0], fields[19]]
  if (state === 'Z') return undefined
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${startTime}`
}
