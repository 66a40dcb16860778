import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { resolve as absolute } from 'node:path'
import { opsProgram } from '../bootstrap/ops.mjs'
import { commandModule, residentCommands } from '../dev/built.js'
import type { Answer } from '../ops/support/command.js'
import type { CommandRequest } from './resident-commands.js'

/** Runs the built scripts of `npm run ops`: most in a resident process, and a sample in a process of their own. */
export class OperatorCommands {
  readonly counts = { resident: 0, spawned: 0 }
  readonly #env: NodeJS.ProcessEnv
  readonly #perSpawned: number
  /** Two, so that two operators can do something at the same time. */
  readonly #residents: [Resident, Resident]
  #runs = 0

  /** `perSpawned`: one of so many runs gets a process of its own. */
  constructor(env: Readonly<Record<string, string>>, perSpawned: number) {
    // They end by themselves, not with a stdin.
    this.#env = { PATH: process.env['PATH'], ...env, NODE_OPTIONS: '' }
    this.#perSpawned = perSpawned
    this.#residents = [new Resident(this.#env), new Resident(this.#env)]
  }

  run(name: string, args: readonly string[], operator: 0 | 1 = 0): Promise<Answer> {
    this.#runs += 1
    if (this.#runs % this.#perSpawned === 0) {
      this.counts.spawned += 1
      return spawn(absolute(opsProgram(name)), args, this.#env)
    }
    this.counts.resident += 1
    return this.#residents[operator].run({ program: commandModule(name), args })
  }

  /** Settings of the commands from now on. */
  async change(settings: Readonly<Record<string, string>>): Promise<void> {
    Object.assign(this.#env, settings)
    await this.close()
  }

  async close(): Promise<void> {
    await Promise.all(this.#residents.map((resident) => resident.close()))
  }
}

class Resident {
  #child: ChildProcess | undefined
  readonly #env: NodeJS.ProcessEnv

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  run(request: CommandRequest): Promise<Answer> {
    this.#child ??= fork(residentCommands, {
      cwd: tmpdir(),
      env: this.#env,
      execArgv: [],
    })
    const child = this.#child
    return new Promise((done, failed) => {
      const ended = () => {
        this.#child = undefined
        failed(new Error(`the process of ${request.program} ended`))
      }
      child.once('exit', ended)
      child.once('message', (answer: Answer) => {
        child.off('exit', ended)
        done(answer)
      })
      child.send(request)
    })
  }

  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const ended = once(child, 'exit')
    child.disconnect()
    await ended
  }
}

function spawn(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Answer> {
  return new Promise((done) => {
    execFile(process.execPath, [program, ...args], { cwd: tmpdir(), env }, (error, out, err) => {
      done({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err })
    })
  })
}
