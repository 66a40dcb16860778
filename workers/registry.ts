import type { Drain } from '../src/platform/drain-loop.js'
import type { WorkKind } from '../src/platform/jobs.js'
import type { Services } from '../src/services.js'
import { mailer } from './mailer.js'
import { provisioner } from './provisioner.js'
import { settlement } from './settlement.js'
import { verifier } from './verifier.js'

/** The workers that drain due rows, by the kind of work. A new worker is one file and one line here. */
export const workers: Record<WorkKind, (services: Services) => Drain> = {
  verifier,
  settlement,
  provisioner,
  mailer,
}
