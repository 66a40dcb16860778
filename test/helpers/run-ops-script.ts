import { execFile } from 'node:child_process'
import type { World } from './servers/world.js'

/** How a script of `npm run ops` ended. */
export interface ScriptRun {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a script of `npm run ops` with the settings of the service. */
export function runOpsScript(
  { env }: Pick<World, 'env'>,
  name: string,
  ...args: readonly string[]
): Promise<ScriptRun> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env } }
    execFile(process.execPath, [`dist/scripts/ops/${name}.js`, ...args], options, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err })
    })
  })
}
