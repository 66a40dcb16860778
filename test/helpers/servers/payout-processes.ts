import { resolve } from 'node:path'
import type { ExecutionContext } from 'ava'
import { startWeb, type WebProcess } from './service-process.js'

const failPoints = resolve('dist/scripts/faults/fail-points.js')

/** A web process whose database connection ends at every COMMIT, each time in another way. */
export function startWebThatLosesCommits(
  t: ExecutionContext,
  env: Readonly<Record<string, string>>,
): Promise<WebProcess> {
  const losing = { FAIL_AT: 'before COMMIT', FAIL_HOW: 'cut' }
  return startWeb(t, { ...env, ...losing, NODE_OPTIONS: `--import ${failPoints}` })
}
