import { type Composed, compose } from '../../../src/compose.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { type ProcessKind, secretsOf } from '../../../src/platform/config/secrets.js'

/**
 * Runs `work` with all services that this command has the secrets for, and closes their connections. Logs nothing: a command
 * prints one answer.
 */
export async function withServices<Result>(
  command: Extract<ProcessKind, `ops ${string}`>,
  work: (services: Composed) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig({ ...process.env, LOG_LEVEL: 'silent' }, secretsOf[command])
  const services = compose(config, 'ops')
  try {
    return await work(services)
  } finally {
    await services.close()
  }
}
