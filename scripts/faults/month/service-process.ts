import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KillPoint } from '../kill-points.js'
import { preload } from '../respawning-process.js'

const restartMs = 1000

export interface ServiceProcessOptions {
  readonly name: string
  /** The program and its arguments. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** What it writes is appended to this file. */
  readonly logFile: string
  /** Called after it was killed, before it starts again. */
  readonly onKill: (kill: { readonly name: string; readonly at: string }) => Promise<void>
  /** Whether it is started again when it ends without being killed. */
  readonly restarts: boolean
  /** Called otherwise. */
  readonly onFailure: (error: unknown) => void
}

/** A process of the service that is killed now and then, and started again. */
export class ServiceProcess {
  #child: ChildProcess | undefined
  #next: KillPoint | undefined
  #ends = false
  #held: Promise<void> | undefined
  #release: () => void = () => undefined
  readonly #options: ServiceProcessOptions
  readonly #done: Promise<void>

  constructor(options: ServiceProcessOptions) {
    this.#options = options
    this.#done = this.#run().catch(options.onFailure)
  }

  /** Kills it where it is. The one that follows is killed at `next`, when it comes there. */
  kill(next?: KillPoint): void {
    this.#next = next
    this.#child?.kill('SIGKILL')
  }

  /** Stops it in order, as a deploy does. It is started again when `restarts` is set. */
  terminate(): void {
    this.#child?.kill('SIGTERM')
  }

  /** Kills it, and does not start it again before the returned function is called. */
  hold(): () => void {
    let release = (): void => undefined
    this.#held = new Promise((done) => {
      release = done
    })
    this.#release = release
    this.kill()
    return release
  }

  async end(): Promise<void> {
    this.#ends = true
    this.#release()
    this.#child?.kill('SIGKILL')
    await this.#done
  }

  async #run(): Promise<void> {
    const { name, args, env, logFile, restarts, onKill } = this.#options
    while (!this.#ends) {
      const point = this.#next
      this.#next = undefined
      const child = startProgram(args, env, logFile, point)
      this.#child = child
      const [code, signal] = await once(child, 'exit')
      await this.#held
      if (this.#ends) return
      if (signal === 'SIGKILL') await onKill({ name, at: point === undefined ? 'anywhere' : point.at })
      else if (restarts) await sleep(restartMs)
      else throw new Error(`${name} ended with ${code ?? signal}; its log is ${logFile}`)
    }
  }
}

/** Starts a built program. It ends with this process, because its standard input does. */
export function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  logFile: string,
  point: KillPoint | undefined,
): ChildProcess {
  const log = openSync(logFile, 'a')
  const failAt = point === undefined ? {} : { FAIL_AT: point.at, FAIL_NTH: String(point.nth) }
  const child = spawn(process.execPath, ['--import', preload, ...args], {
    stdio: ['pipe', log, log],
    env: { PATH: process.env['PATH'], ...env, ...failAt },
  })
  closeSync(log)
  return child
}
