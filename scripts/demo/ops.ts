import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { opsProgram } from '../bootstrap/ops.mjs'
import type { Json } from './api.js'

const problemFound = 4

/**
 * Runs an operators' command with the settings of the stack, and returns what it prints. Exit code 4 is no failure: others on
 * this stack may have left something that an operator looks at. Throws with the command's own words.
 */
export async function runOps(command: string, ...args: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [opsProgram(command), ...args])
  const { stdout } = await run.catch((error: { code?: unknown; stdout: string; stderr: string }) => {
    if (error.code === problemFound && error.stdout !== '') return error
    throw new Error(`npm run ops -- ${[command, ...args].join(' ')}: ${error.stderr || error.stdout}`)
  })
  return stdout
}

/** The same, as a program reads it. */
export async function runOpsJson(command: string, ...args: string[]): Promise<Json> {
  return JSON.parse(await runOps(command, ...args, '--json'))
}
