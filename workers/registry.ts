import type { WorkKind } from '../src/platform/queue/wake-ups.js'
import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { finder } from './finder.js'
import { mailer } from './mailer.js'
import { payoutFailure, payouts } from './payouts.js'
import { provisioner } from './provisioner.js'
import { reconciler } from './reconciler.js'
import { settlement } from './settlement.js'
import { verifier } from './verifier.js'

/** The workers that batch due rows, by the kind of work. A new worker is one file and one line here. */
export const workers: Record<WorkKind, (services: Services) => Batch> = {
  verifier,
  finder,
  settlement,
  payouts,
  reconciler,
  provisioner,
  mailer,
}

/** Drains at once of one process. Where each row waits for somebody outside, one that hangs must not hold up the others. */
export const concurrencyOf: Record<WorkKind, number> = {
  verifier: 1,
  finder: 1,
  settlement: 4,
  payouts: 4,
  reconciler: 4,
  provisioner: 1,
  mailer: 4,
}

/** Why the work on a row has not succeeded, of the kinds whose rows have jobs of their own. */
export const failuresOf: Partial<
  Record<WorkKind, (services: Services) => (row: string) => Promise<string | undefined>>
> = { payouts: payoutFailure }
