import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { startChild, stopChild } from '../bootstrap/child-process.mjs'

const firstPauseMs = 250
const maxPauseMs = 5_000
/** A process that ran this long had started well, so its failures are counted from zero again. */
const startedWellMs = 10_000
/** In a shell's exit status, death by a signal is 128 plus its number. */
const signalBase = 128

/** A command to run. `output`: a file descriptor for stdout and stderr; by default those of this process. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** The signal that stops it cleanly. */
  readonly signal: 'SIGTERM' | 'SIGINT'
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
  readonly output?: number
}

/** Starts a program without supervision. It ends when this process ends. */
export function startProgram({ output, ...program }: Program): ChildProcess {
  return startChild(program, output ?? 'inherit', output ?? 'inherit')
}

/** How a process ended, as text: `exit code 1` or `SIGKILL`. */
function exitReason(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return signal
  const named = Object.entries(constants.signals).find(([, number]) => number + signalBase === code)
  return named?.[0] ?? `exit code ${code}`
}

/** A program that is started again, after a growing pause, whenever it ends by itself. */
export class SupervisedProcess {
  readonly name: string
  /** How often it has ended by itself since it last ran for ten seconds. */
  failures = 0
  #child: ChildProcess | undefined
  #restart: NodeJS.Timeout | undefined
  #stopped = false
  readonly #program: Program
  readonly #print: (text: string) => void

  constructor(name: string, program: Program, print: (text: string) => void) {
    this.name = name
    this.#program = program
    this.#print = print
    this.#start()
  }

  /** Stops it cleanly, or kills it after `milliseconds`. Resolves when it has ended. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#restart)
    if (this.#child !== undefined) await stopChild(this.#child, milliseconds)
  }

  #start(): void {
    const startedAt = Date.now()
    const child = startProgram(this.#program)
    this.#child = child
    child.once('error', (error) => this.#restartLater(startedAt, error.message))
    child.once('exit', (code, signal) => {
      child.stdin?.destroy()
      this.#restartLater(startedAt, exitReason(code, signal))
    })
  }

  #restartLater(startedAt: number, reason: string): void {
    this.#child = undefined
    if (this.#stopped) return
    this.failures = Date.now() - startedAt > startedWellMs ? 1 : this.failures + 1
    const pause = Math.min(maxPauseMs, firstPauseMs * 2 ** (this.failures - 1))
    this.#print(`${this.name} ended (${reason}), starting it again in ${pause / 1000} s`)
    this.#restart = setTimeout(() => this.#start(), pause)
  }
}
