import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve as absolute, basename, join } from 'node:path'
import { opsProgram } from '../../scripts/bootstrap/ops.mjs'
import { commandModule } from '../../scripts/dev/built.js'
import { type Answer, answerCommand, type Command } from '../../scripts/ops/support/command.js'
import { noteReached } from './servers/reached.js'
import { settingsOf } from './servers/roles.js'
import type { World } from './servers/world.js'

/** How a script of `npm run ops` ended. */
export type ScriptRun = Answer

/** The compiled file of a command, or of a path below `dist`, such as `scripts/dev`. */
const fileOf = (name: string): string =>
  name.includes('/') ? absolute(`dist/${name}.js`) : absolute(opsProgram(name))

/**
 * Runs a command of `npm run ops` in this thread, with the settings of the world: that takes a tenth of the time of a program
 * of its own.
 */
export async function runOpsScript(
  { env }: Pick<World, 'env'>,
  name: string,
  ...args: readonly string[]
): Promise<ScriptRun> {
  Object.assign(process.env, withRole(env, name))
  const { command } = (await import(commandModule(basename(name)))) as {
    readonly command: Command<Record<string, never>>
  }
  return reached(name, await answerCommand(command, args))
}

/** Notes a command that was done or planned, or has found something (4). */
function reached(name: string, run: ScriptRun): ScriptRun {
  if (run.code === 0 || run.code === 4) noteReached([name])
  return run
}

/** The settings with the database role that the command has, if it has one. */
function withRole(env: World['env'], name: string): World['env'] {
  if (['archive', 'backup', 'migrate'].includes(name) || name.includes('/')) return env
  return settingsOf(env, name === 'rotate-wallet-key' ? 'provisioner' : 'operators')
}

/** The folder in which the programs run: a clone may hold `.env` and the `.data` of a stack, which they would read. */
const emptyFolder = mkdtempSync(join(tmpdir(), 'ops-'))

/** Runs a script as a program of its own, with these settings, an empty stdin and nothing that lies in the clone. */
export function spawnOpsScript(
  { env }: Pick<World, 'env'>,
  name: string,
  ...args: readonly string[]
): Promise<ScriptRun> {
  return new Promise((resolve) => {
    const options = { cwd: emptyFolder, env: { PATH: process.env['PATH'], ...withRole(env, name) } }
    const child = execFile(process.execPath, [fileOf(name), ...args], options, (error, out, err) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1
      resolve(reached(name, { code, out, err }))
    })
    child.stdin?.end()
  })
}
