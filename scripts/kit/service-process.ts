import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { respondsAt } from '../dev/probe.js'
import type { KillPoint } from './kill-points.js'

const preload = './dist/scripts/kit/fail-points.js'
/** On a loaded machine. */
const startMs = 120_000
const restartMs = 1000

interface ServiceProcessOptions {
  readonly name: string
  /** The program and its arguments, in the folder of a release. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Where it answers `/ready`. Empty: it is a command. */
  readonly url: string
  /** Where it serves its metrics, if not there. */
  readonly metricsUrl?: string
  /** What it writes is appended to this file. */
  readonly logFile: string
  /** Chooses where it is killed next. */
  readonly choosePoint?: () => KillPoint
  /** In a storm, a process that is not at its kill point after this time is killed where it is. */
  readonly lateMs?: number
  /** Called after it was killed, before it starts again. Without: what ends stays ended. */
  readonly onKill?: (kill: { readonly name: string; readonly at: string }) => Promise<void>
  /** When it ends by itself in another way it is started again, as a supervisor does. */
  readonly restarts?: boolean
  /** With these a command ends in order, and is started again. */
  readonly codes?: readonly number[]
  /** Called otherwise. */
  readonly onFailure?: (error: unknown) => void
}

/** A process of the service, which is killed, stopped in order, and started again. It ends with this process, as its stdin does. */
export class ServiceProcess {
  readonly name: string
  readonly url: string
  readonly metricsUrl: string
  readonly #options: ServiceProcessOptions
  #env: Readonly<Record<string, string>>
  #folder = process.cwd()
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  /** Whether it is to run. */
  #wanted = false
  #storm = false
  #pointNext = false

  constructor(options: ServiceProcessOptions) {
    this.#options = options
    this.#env = options.env
    this.name = options.name
    this.url = options.url
    this.metricsUrl = options.metricsUrl ?? options.url
  }

  /** Settings of its next start. */
  change(settings: Readonly<Record<string, string>>): void {
    this.#env = { ...this.#env, ...settings }
  }

  /** Starts it from the folder of a release, and waits until it is ready. */
  async start(folder = process.cwd()): Promise<void> {
    this.#folder = folder
    this.#wanted = true
    this.#spawn()
    const child = this.#child
    const mayStart = () => this.#child !== child || isRunning(child)
    if (this.url !== '' && !(await respondsAt(`${this.url}/ready`, startMs, mayStart)))
      throw new Error(`${this.name} is not ready; its log is ${this.#options.logFile}`)
  }

  /** Stops it as a deploy does. Throws when it does not end in order. */
  async stop(): Promise<void> {
    const child = this.#child
    await this.#end('SIGTERM')
    if (child !== undefined && child.exitCode !== 0)
      throw this.#unexpected(child.exitCode ?? child.signalCode)
  }

  /** Kills it, and does not start it again. */
  async end(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Kills it where it is. It is started again. `atPoint`: then it is killed at a named point, when it comes there. */
  kill(atPoint = false): void {
    this.#pointNext = atPoint
    this.#child?.kill('SIGKILL')
  }

  /** While on, it is killed at one named point after the other. */
  storm(on: boolean): void {
    this.#storm = on
    this.kill()
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#wanted = false
    const child = this.#child
    if (child !== undefined && isRunning(child)) {
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    }
    await this.#ended
  }

  #spawn(): void {
    const { args, choosePoint, logFile } = this.#options
    const point = this.#storm || this.#pointNext ? choosePoint?.() : undefined
    this.#pointNext = false
    const child = startLogged(args, { env: this.#env, logFile, folder: this.#folder, point })
    this.#child = child
    const late = { isKilled: false }
    if (point !== undefined && this.#storm) void this.#killLate(child, late)
    child.once('exit', (code, signal) => {
      const at = point === undefined || late.isKilled ? 'anywhere' : point.at
      this.#ended = this.#goOn(code, signal, at).catch(this.#options.onFailure)
    })
  }

  async #goOn(code: number | null, signal: NodeJS.Signals | null, at: string): Promise<void> {
    const { name, onKill, restarts, codes, onFailure } = this.#options
    if (!this.#wanted || onKill === undefined) return
    if (signal === 'SIGKILL') await onKill({ name, at })
    else if (codes?.includes(code ?? -1) || (restarts && codes === undefined)) await sleep(restartMs)
    else {
      onFailure?.(this.#unexpected(code ?? signal))
      return
    }
    if (this.#wanted) this.#spawn()
  }

  async #killLate(child: ChildProcess, late: { isKilled: boolean }): Promise<void> {
    if (this.url !== '') await respondsAt(`${this.url}/ready`, startMs, () => isRunning(child))
    await sleep(this.#options.lateMs, undefined, { ref: false })
    if (!isRunning(child)) return
    late.isKilled = true
    child.kill('SIGKILL')
  }

  #unexpected(end: number | NodeJS.Signals | null): Error {
    return new Error(`${this.name} ended with ${end}; its log is ${this.#options.logFile}`)
  }
}

/** Starts a built program, which is killed at the point when it comes there. It ends with this process, as its stdin does. */
export function startLogged(
  args: readonly string[],
  { env, logFile, folder = process.cwd(), point }: StartOptions,
): ChildProcess {
  const log = openSync(logFile, 'a')
  const child = spawn(process.execPath, [...(point ? ['--import', preload] : []), ...args], {
    cwd: folder,
    stdio: ['pipe', log, log],
    env: {
      PATH: process.env['PATH'],
      ...env,
      ...(point && { FAIL_AT: point.at, FAIL_NTH: String(point.nth) }),
    },
  })
  closeSync(log)
  return child
}

interface StartOptions {
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  readonly folder?: string
  readonly point: KillPoint | undefined
}

function isRunning(child: ChildProcess | undefined): boolean {
  return child !== undefined && child.exitCode === null && child.signalCode === null
}
