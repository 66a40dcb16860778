import { type Composed, compose } from '../../../src/compose.js'
import { loadConfig } from '../../../src/platform/config/config.js'

/** Runs `work` with all services, and closes their connections. Logs nothing: a command prints one answer. */
export async function withServices<Result>(work: (services: Composed) => Promise<Result>): Promise<Result> {
  const services = compose(loadConfig({ ...process.env, LOG_LEVEL: 'silent' }), 'ops')
  try {
    return await work(services)
  } finally {
    await services.close()
  }
}
