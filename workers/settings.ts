import { loadMail, loadOperators, loadWalletKek } from '../src/platform/config.js'
import type { WorkKind } from '../src/platform/jobs.js'
import type { SettingsReader } from '../src/platform/start-settings.js'

/** What a worker reads besides the settings of every process. */
export const ownSettings: Partial<Record<WorkKind | 'clock', SettingsReader>> = {
  provisioner: loadWalletKek,
  mailer: loadMail,
  clock: loadOperators,
}
