import { loadMail, loadOperators, loadWalletKek } from '../src/platform/config/config.js'
import type { SettingsReader } from '../src/platform/config/start-settings.js'
import type { WorkKind } from '../src/platform/queue/wake-ups.js'

/** What a worker reads besides the settings of every process. */
export const ownSettings: Partial<Record<WorkKind | 'clock', SettingsReader>> = {
  provisioner: loadWalletKek,
  mailer: loadMail,
  clock: loadOperators,
}
