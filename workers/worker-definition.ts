import type { SettingsReader } from '../src/platform/config/start-settings.js'
import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'

/** A worker that takes due rows. */
export interface WorkerDefinition {
  readonly createBatch: (services: Services) => Batch
  /** Batches that run at the same time in one process. Above 1 where a call for one row may hang. */
  readonly concurrency: number
  /** Reads the settings that only this worker needs. */
  readonly readOwnSettings?: SettingsReader
  /** Compares the settings with the database before the worker starts. Throws ConfigError. */
  readonly checkStart?: (services: Services) => Promise<void>
  /** Why the work on a row has not succeeded, for work whose rows have their own jobs. */
  readonly jobFailure?: (services: Services, row: string) => Promise<string | undefined>
  /** Makes a row due whose job somebody retries. */
  readonly makeRowDue?: (services: Services, row: string) => Promise<void>
}
