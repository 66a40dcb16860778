import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FailPoint, failPoint, type Role } from './points.js'

const preload = './dist/scripts/faults/fail-points.js'
const lastWordsLength = 2000
/** How long a process may work without coming to its point; then it is killed wherever it is. */
const patienceMs = 2500
/** What it logs once it works. */
const working = /"msg":"(listening|working)"/

const programs: Readonly<Record<Role, readonly string[]>> = {
  web: ['dist/src/web.js'],
  payouts: ['dist/workers/main.js', 'payouts'],
  reconciler: ['dist/workers/main.js', 'reconciler'],
}

export interface Kill {
  readonly role: Role
  /** The point, or `anywhere` when it did not come to it in time. */
  readonly at: string
}

export interface PlaceOptions {
  readonly role: Role
  /** Of the places of this role: processes of different ones die at different points. */
  readonly number: number
  readonly seed: number
  readonly env: Readonly<Record<string, string>>
  readonly killed: (kill: Kill) => Promise<void>
  /** Told when a process ends that nobody killed. */
  readonly failed: (error: unknown) => void
}

/** A place in which one process of the service after the other runs and is killed. */
export class Place {
  #child: ChildProcess | undefined
  #lastWords = ''
  #mode: 'kill' | 'keep' | 'end'
  #started = 0
  readonly #options: PlaceOptions
  readonly #done: Promise<void>

  constructor(options: PlaceOptions, mode: 'kill' | 'keep' = 'kill') {
    this.#options = options
    this.#mode = mode
    this.#done = this.#run().catch(options.failed)
  }

  /** From now on its process lives; the present one would still die at its point. */
  spare(): void {
    this.#mode = 'keep'
    this.#child?.kill('SIGKILL')
  }

  async end(): Promise<void> {
    this.#mode = 'end'
    this.#child?.kill('SIGKILL')
    await this.#done
  }

  async #run(): Promise<void> {
    const { role, number, seed, killed } = this.#options
    while (this.#mode !== 'end') {
      const kills = this.#mode === 'kill'
      const point = kills ? failPoint(seed + number, role, this.#started++) : undefined
      const at = await this.#live(point)
      if (kills && at !== undefined) await killed({ role, at })
    }
  }

  /** Returns where it was killed; undefined when somebody ended it. */
  async #live(point: FailPoint | undefined): Promise<string | undefined> {
    const { role, env } = this.#options
    const child = spawn(process.execPath, ['--import', preload, ...programs[role]], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        ...env,
        ...(point && { FAIL_AT: point.at, FAIL_NTH: String(point.nth) }),
      },
    })
    this.#child = child
    child.stderr.on('data', (chunk) => {
      this.#lastWords = (this.#lastWords + chunk).slice(-lastWordsLength)
    })
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    let late = false
    let timer: NodeJS.Timeout | undefined
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (point === undefined || timer !== undefined || !working.test(text)) return
      timer = setTimeout(() => {
        late = true
        child.kill('SIGKILL')
      }, patienceMs)
    })
    const [code, signal] = await ended
    clearTimeout(timer)
    if (signal !== 'SIGKILL') throw new Error(`${role} ended with ${code ?? signal}: ${this.#lastWords}`)
    return this.#mode === 'kill' && point !== undefined ? (late ? 'anywhere' : point.at) : undefined
  }
}
