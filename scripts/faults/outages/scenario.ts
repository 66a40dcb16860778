import type { Sandbox } from '../../sandbox/server.js'
import type { Draw } from '../acts/draw.js'
import type { ServerUrls } from '../kill-payouts.js'
import type { Stage } from '../month/stage.js'
import type { ClientNotes } from './client-notes.js'

/** A run under way, as a disturbance sees it. */
export interface Run {
  readonly stage: Stage
  readonly notes: ClientNotes
  /** Waits until clients have done so many further things, whatever came of them. */
  untilDone(acts: number): Promise<void>
  /**
   * Waits until the service is itself again: its web processes are ready, each kind of request works, a tip was streamed and a payout
   * executed.
   */
  untilItself(): Promise<void>
}

/** Something that happens to the service, and is put right before it returns. */
export interface Disturbance {
  readonly name: string
  /** Drawn by the seed and the number of the disturbance. */
  act(run: Run, draw: Draw): Promise<void>
}

/** The servers of one run, and what happens to them. */
export interface OpenScenario {
  /** On these ways the results are read, and the service's Redis. */
  readonly servers: Omit<ServerUrls, 'namespace'>
  /** Where the service finds its database, if not there. */
  readonly serviceDatabaseUrl?: string
  /** Settings of the service. */
  readonly env?: (sandbox: Sandbox) => Readonly<Record<string, string>>
  /** How many web processes must be ready for the service to be itself. Default: both. */
  readonly readyLeast?: number
  /** Further settings of one process: `web-0`, `web-1`, `verifier`, `settlement`, `payouts`, `custodian`. */
  readonly envOf?: (process: string) => Readonly<Record<string, string>>
  /** Every process shows its metrics on a port of its own. */
  readonly metrics?: boolean
  /** Called once, when the service is itself, before the first disturbance. */
  readonly begin?: (run: Run) => Promise<void>
  /** They come in turn, in an order that the seed decides; each at least once. */
  readonly disturbances: readonly Disturbance[]
  /** Refusals that clients may see beside those which every run allows, as `ClientNotes` writes them. */
  readonly mayAnswer?: readonly string[]
  /** What else is to be expected at the end, when nothing is under way. Returns faults. */
  readonly check?: (run: Run) => Promise<readonly string[]>
  close(): Promise<void>
}

interface OpenOptions {
  readonly seed: number
  /** An empty folder for the files of its servers. The scenario need not remove it. */
  readonly folder: string
  readonly report: (progress: string) => void
}

export type Scenario = (options: OpenOptions) => Promise<OpenScenario>
