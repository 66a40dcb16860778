import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve as absolute, join } from 'node:path'
import type { World } from './servers/world.js'

/** How a script of `npm run ops` ended. */
export interface ScriptRun {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The folder in which the scripts run: a clone may hold `.env` and the `.data` of a stack, which they would read. */
const emptyFolder = mkdtempSync(join(tmpdir(), 'ops-'))

/** Runs a script of `npm run ops` with the settings of the service, and with nothing that lies in the clone. */
export function runOpsScript(
  { env }: Pick<World, 'env'>,
  name: string,
  ...args: readonly string[]
): Promise<ScriptRun> {
  return new Promise((resolve) => {
    const options = { cwd: emptyFolder, env: { PATH: process.env['PATH'], ...env } }
    const program = absolute(`dist/scripts/ops/${name}.js`)
    execFile(process.execPath, [program, ...args], options, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err })
    })
  })
}
