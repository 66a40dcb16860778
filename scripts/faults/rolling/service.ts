import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { respondsAt } from '../../dev/probe.js'

const startMs = 120_000

export interface ServiceOptions {
  readonly name: string
  /** The program and its arguments, in the folder of a release. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Where it answers `/ready`. */
  readonly url: string
  readonly logFile: string
}

/** A process of the service that is stopped in order and started again, of this release or another. */
export class Service {
  readonly name: string
  readonly url: string
  readonly #options: ServiceOptions
  #env: Readonly<Record<string, string>>
  #child: ChildProcess | undefined

  constructor(options: ServiceOptions) {
    this.#options = options
    this.#env = options.env
    this.name = options.name
    this.url = options.url
  }

  /** Settings of its next start. */
  change(settings: Readonly<Record<string, string>>): void {
    this.#env = { ...this.#env, ...settings }
  }

  /** Starts it from the folder of a release, and waits until it is ready. */
  async start(folder: string): Promise<void> {
    const { name, args, url, logFile } = this.#options
    const log = openSync(logFile, 'a')
    const child = spawn(process.execPath, [...args], {
      cwd: folder,
      // It ends with this process, because its standard input does.
      stdio: ['pipe', log, log],
      env: { PATH: process.env['PATH'], ...this.#env },
    })
    closeSync(log)
    this.#child = child
    const runs = () => child.exitCode === null && child.signalCode === null
    if (!(await respondsAt(`${url}/ready`, startMs, runs)))
      throw new Error(`${name} is not ready; its log is ${logFile}`)
  }

  /** Stops it as a deploy does. Rejects when it does not end in order. */
  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    this.#child = undefined
    if (child.exitCode !== 0)
      throw new Error(
        `${this.name} ended with ${child.exitCode ?? child.signalCode}; its log is ${this.#options.logFile}`,
      )
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }
}
