import type { Defer } from '../../kit/closing.js'
import type { Draw } from '../../kit/draw.js'
import type { ActName } from './acts.js'
import type { ClientNotes } from './client-notes.js'
import type { Stage, StageOptions } from './stage.js'
import type { Truth } from './truth.js'

/** A run under way, as a disturbance sees it. */
export interface Run {
  readonly stage: Stage
  readonly truth: Truth
  readonly notes: ClientNotes
  readonly report: (progress: string) => void
  /** Waits until clients have done so many further things, whatever came of them. */
  untilDone(acts: number): Promise<void>
  /** Waits until so many web processes get requests. Default: all. */
  untilReady(count?: number): Promise<void>
  /** Sends no requests to a web process, or sends them again. */
  takeOut(url: string, out: boolean): void
  /** Waits until a condition holds, for five minutes. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/** Something that happens to the service, and is put right before it returns. */
export interface Disturbance {
  readonly name: string
  /** Drawn by the seed and the number of the disturbance. */
  act(run: Run, draw: Draw): Promise<void>
}

/** The servers of one run, and what happens to them and to the service. */
export interface Scenario {
  /** On these ways the results are read, and the service's Redis. */
  readonly databaseUrl: string
  readonly redisUrl: string
  /** What differs from two web processes and all workers. */
  readonly stage?: Partial<StageOptions>
  /** What people do. Default: tips, repeats and withdrawals. */
  readonly acts?: Readonly<Partial<Record<ActName, number>>>
  /** How many web processes must be ready for the service to be itself. Default: all. */
  readonly readyLeast?: number
  /** In an order that the seed decides, each at least once; with `inOrder` as they are. */
  readonly disturbances: readonly Disturbance[]
  readonly inOrder?: boolean
  /** Refusals that clients may see, as `ClientNotes` writes them. Default: those that say when to come again. */
  readonly mayAnswer?: readonly string[]
  /** No stream may break off either. */
  readonly keepsStreams?: boolean
  /** In front of the web processes. Default: a proxy of our own that knows `/ready`. */
  readonly router?: 'nginx'
  /** What is left to do when the load has ended. */
  readonly end?: (run: Run) => Promise<void>
  /** What else is to be expected at the end, when nothing is under way. Returns faults. */
  readonly check?: (run: Run) => Promise<readonly string[]>
}

interface ScenarioOptions {
  readonly seed: number
  /** An empty folder for the files of its servers. It is removed. */
  readonly folder: string
  readonly report: (progress: string) => void
  readonly defer: Defer
}

export type OpenScenario = (options: ScenarioOptions) => Promise<Scenario>

export interface ScenarioPlan {
  readonly seed: number
  /** How many disturbances there are. */
  readonly rounds: number
  readonly report: (progress: string) => void
  /** People who do something at the same time. */
  readonly concurrency?: number
  readonly creators?: number
  /** Things that clients do before each disturbance. */
  readonly acts?: number
  /** Streams of each creator. */
  readonly readers?: number
}
