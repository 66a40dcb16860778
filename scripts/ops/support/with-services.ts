import { type Composed, compose } from '../../../src/compose.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { type ProcessKind, secretsOf } from '../../../src/platform/config/process-secrets.js'
import { checkSettings, type SettingsReader } from '../../../src/platform/config/start-settings.js'
import { openDataKeys } from '../../../src/privacy/keys/open-data-keys.js'

/**
 * Runs `work` with all services that this command has the secrets for, and closes their connections. Logs nothing: a command
 * prints one answer. `readOwnSettings`: of what is not in Config, so that one message names every fault.
 */
export async function withServices<Result>(
  command: Extract<ProcessKind, `ops ${string}`>,
  work: (services: Composed) => Promise<Result>,
  readOwnSettings: readonly SettingsReader[] = [],
): Promise<Result> {
  const load = (env: NodeJS.ProcessEnv) => loadConfig({ ...env, LOG_LEVEL: 'silent' }, secretsOf[command])
  checkSettings([load, ...readOwnSettings], process.env)
  const config = load(process.env)
  const services = compose(config, 'ops')
  try {
    if (secretsOf[command].some((secret) => secret === 'DATA_KEY'))
      // Stores no key: a wrong one in somebody's shell would keep every process from starting.
      await openDataKeys(services.db, config.dataKeys, false)
    return await work(services)
  } finally {
    await services.close()
  }
}
