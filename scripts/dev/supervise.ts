import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { endKept, keep } from '../bootstrap/keep.mjs'

const firstPauseMs = 250
const longestPauseMs = 5_000
/** A child that lived this long had started well: its next failure is a new one. */
const settledMs = 10_000
/** In a shell's exit status, death by a signal is 128 plus its number. */
const signalBase = 128

/** A command to keep running. `output`: a file descriptor for what it writes; left out, it writes where we do. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** What makes it stop in order. */
  readonly signal: 'SIGTERM' | 'SIGINT'
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
  readonly output?: number
}

/** Starts a program once; it ends when this process does. Who starts it looks after it. */
export function startOnce({ output, ...program }: Program): ChildProcess {
  return keep(program, output ?? 'inherit', output ?? 'inherit')
}

/** How a child ended, in words: `exit code 1` or `SIGKILL`. */
function wayOut(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return signal
  const named = Object.entries(constants.signals).find(([, number]) => number + signalBase === code)
  return named?.[0] ?? `exit code ${code}`
}

/** One program that is started again, after a growing pause, whenever it ends by itself. */
export class Supervised {
  readonly name: string
  /** How often it ended by itself since it last ran for ten seconds. */
  failures = 0
  #child: ChildProcess | undefined
  #restart: NodeJS.Timeout | undefined
  #stopped = false
  readonly #program: Program
  readonly #say: (text: string) => void

  constructor(name: string, program: Program, say: (text: string) => void) {
    this.name = name
    this.#program = program
    this.#say = say
    this.#start()
  }

  /** Ends it in order, by force after so many milliseconds. Resolves when it is gone. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#restart)
    if (this.#child !== undefined) await endKept(this.#child, milliseconds)
  }

  #start(): void {
    const began = Date.now()
    const child = startOnce(this.#program)
    this.#child = child
    child.once('error', (error) => this.#ended(began, error.message))
    child.once('exit', (code, signal) => {
      child.stdin?.destroy()
      this.#ended(began, wayOut(code, signal))
    })
  }

  #ended(began: number, how: string): void {
    this.#child = undefined
    if (this.#stopped) return
    this.failures = Date.now() - began > settledMs ? 1 : this.failures + 1
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (this.failures - 1))
    this.#say(`${this.name} ended (${how}), starting it again in ${pause / 1000} s`)
    this.#restart = setTimeout(() => this.#start(), pause)
  }
}
