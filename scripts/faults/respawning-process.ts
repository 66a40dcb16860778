import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { webProgram, workersProgram } from '../dev/built.js'
import { chooseKillPoint, type KillPoint, type Role } from './kill-points.js'

export const preload = './dist/scripts/faults/fail-points.js'
const stderrLength = 2000
/** A process that has not reached its kill point after this time is killed where it is. Sweeps come in bursts. */
const usualPointMs = 2500
const pointMs: Readonly<Partial<Record<Role, number>>> = {
  'web-take-outs': 6000,
  custodian: 8000,
  sweep: 20_000,
}
/** What a process logs when it has started. */
const working = /"msg":"(listening|working)"/

const programs = {
  web: [webProgram],
  'web-take-outs': [webProgram],
  payouts: [workersProgram, 'payouts'],
  reconciler: [workersProgram, 'reconciler'],
  custodian: [workersProgram, 'custodian', 'take-outs'],
  sweep: ['dist/scripts/ops/money/sweep.js', '--apply', '--payer'],
} satisfies Partial<Record<Role, readonly string[]>>
/** The roles that this class can run. */
export type RespawnedRole = keyof typeof programs

/** A command ends by itself: done, something waits for a person, or try again later. It is started again. */
const commandCodes: readonly (number | null)[] = [0, 4, 5]

export interface Kill {
  readonly role: Role
  /** The kill point, or `anywhere` when the process did not reach it in time. */
  readonly at: string
}

export interface RespawningOptions {
  readonly role: RespawnedRole
  /** Makes the kill points of processes with the same role different. */
  readonly number: number
  readonly seed: number
  readonly env: Readonly<Record<string, string>>
  /** What follows the program's own arguments. */
  readonly args?: readonly string[]
  readonly onKill: (kill: Kill) => Promise<void>
  /** Called when a process ends that was not killed. */
  readonly onFailure: (error: unknown) => void
}

/** A process of the service that is killed at a kill point and started again, repeatedly. */
export class RespawningProcess {
  #child: ChildProcess | undefined
  #stderr = ''
  #mode: 'kill' | 'keep' | 'end'
  #started = 0
  readonly #options: RespawningOptions
  readonly #done: Promise<void>

  constructor(options: RespawningOptions, mode: 'kill' | 'keep' = 'kill') {
    this.#options = options
    this.#mode = mode
    this.#done = this.#run().catch(options.onFailure)
  }

  /** Replaces the current process with one that has no kill point. */
  stopKilling(): void {
    this.#mode = 'keep'
    this.#child?.kill('SIGKILL')
  }

  async end(): Promise<void> {
    this.#mode = 'end'
    this.#child?.kill('SIGKILL')
    await this.#done
  }

  async #run(): Promise<void> {
    const { role, number, seed, onKill } = this.#options
    while (this.#mode !== 'end') {
      const kills = this.#mode === 'kill'
      const point = kills ? chooseKillPoint(seed + number, role, this.#started++) : undefined
      const at = await this.#runOnce(point)
      if (kills && at !== undefined) await onKill({ role, at })
    }
  }

  /** Runs one process to its end. Returns where it was killed, or undefined when it was ended on purpose. */
  async #runOnce(point: KillPoint | undefined): Promise<string | undefined> {
    const { role, env, args = [] } = this.#options
    const child = spawn(process.execPath, ['--import', preload, ...programs[role], ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        ...env,
        ...(point && { FAIL_AT: point.at, FAIL_NTH: String(point.nth) }),
      },
    })
    this.#child = child
    child.stderr.on('data', (chunk) => {
      this.#stderr = (this.#stderr + chunk).slice(-stderrLength)
    })
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    let late = false
    let timer: NodeJS.Timeout | undefined
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (point === undefined || timer !== undefined || !working.test(text)) return
      timer = setTimeout(() => {
        late = true
        child.kill('SIGKILL')
      }, pointMs[role] ?? usualPointMs)
    })
    const [code, signal] = await ended
    clearTimeout(timer)
    if (role === 'sweep' && commandCodes.includes(code)) return undefined
    if (signal !== 'SIGKILL') throw new Error(`${role} ended with ${code ?? signal}: ${this.#stderr}`)
    return this.#mode === 'kill' && point !== undefined ? (late ? 'anywhere' : point.at) : undefined
  }
}
