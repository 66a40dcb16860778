import { loadConfig } from '../src/platform/config/config.js'
import { loadOperators, loadReportSigningKey } from '../src/platform/config/own-settings.js'
import { type Secret, secretsOf } from '../src/platform/config/process-secrets.js'
import type { SettingsReader } from '../src/platform/config/start-settings.js'
import { type WorkKind, workKinds } from '../src/platform/queue/wake-ups.js'
import { custodian, takeOuts } from './custodian.js'
import { dispatcher } from './dispatcher.js'
import { finder } from './finder.js'
import { mailer } from './mailer.js'
import { payouts } from './payouts.js'
import { provisioner } from './provisioner.js'
import { reconciler } from './reconciler.js'
import { settlement } from './settlement.js'
import { verifier } from './verifier.js'
import type { WorkerDefinition } from './worker-definition.js'

/** The workers by the kind of work. A new one is a file beside this, an entry here and a line in the Procfile. */
export const workers: Readonly<Record<WorkKind, WorkerDefinition>> = {
  verifier,
  finder,
  settlement,
  payouts,
  reconciler,
  provisioner,
  custodian,
  'take-outs': takeOuts,
  mailer,
  dispatcher,
}

/** The kinds of processes `workers/main.ts` can run: the workers above and the clock. */
export const processNames = [...workKinds, 'clock'] as const
export type ProcessName = (typeof processNames)[number]

/** The secrets that one process with all of these names reads. */
export const secretsOfAll = (names: readonly ProcessName[]): readonly Secret[] => [
  ...new Set(names.flatMap((name): readonly Secret[] => secretsOf[name])),
]

/** Readers of all settings of these processes. Each throws ConfigError. */
export function settingsReaders(names: readonly ProcessName[]): SettingsReader[] {
  const own = names.flatMap((name) =>
    name === 'clock' ? [loadOperators, loadReportSigningKey] : (workers[name].readOwnSettings ?? []),
  )
  return [(env) => loadConfig(env, secretsOfAll(names)), ...own]
}
