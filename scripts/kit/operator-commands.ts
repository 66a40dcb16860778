import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { commandModule, residentCommands } from '../dev/built.js'
import type { Answer } from '../ops/support/command.js'
import type { CommandRequest } from './resident-commands.js'

/** Runs the built commands of `npm run ops` in resident processes, without the second that a new one needs to start. */
export class OperatorCommands {
  /** Two, so that two operators can do something at the same time. */
  readonly #residents: readonly [Resident, Resident]

  constructor(env: Readonly<Record<string, string>>) {
    // They end by themselves, not with a stdin.
    const own = { PATH: process.env['PATH'], ...env, NODE_OPTIONS: '' }
    this.#residents = [new Resident(own), new Resident(own)]
  }

  run(name: string, args: readonly string[], operator: 0 | 1 = 0): Promise<Answer> {
    return this.#residents[operator].run({ program: commandModule(name), args })
  }

  async close(): Promise<void> {
    await Promise.all(this.#residents.map((resident) => resident.close()))
  }
}

/** One person, who gives one command after the other. */
class Resident {
  #child: ChildProcess | undefined
  #last: Promise<unknown> = Promise.resolve()
  readonly #env: NodeJS.ProcessEnv

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  run(request: CommandRequest): Promise<Answer> {
    const answer = this.#last.then(() => this.#answerTo(request))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  async #answerTo(request: CommandRequest): Promise<Answer> {
    this.#child ??= fork(residentCommands, { cwd: tmpdir(), env: this.#env, execArgv: [] })
    const child = this.#child
    const over = new AbortController()
    const { signal } = over
    const ended = once(child, 'exit', { signal }).then(() => {
      this.#child = undefined
      throw new Error(`the process of ${request.program} ended`)
    })
    const answered = once(child, 'message', { signal }) as Promise<[Answer]>
    child.send(request)
    try {
      const [answer] = await Promise.race([answered, ended])
      return answer
    } finally {
      over.abort()
    }
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
