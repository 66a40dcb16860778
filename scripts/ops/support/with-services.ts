import { type Composed, compose } from '../../../src/compose.js'
import { loadConfig } from '../../../src/platform/config/config.js'

/** Does what needs more of the service than its database, and releases it. Nothing is logged: a script answers, once. */
export async function withServices<Result>(work: (services: Composed) => Promise<Result>): Promise<Result> {
  const services = compose(loadConfig({ ...process.env, LOG_LEVEL: 'silent' }), 'ops')
  try {
    return await work(services)
  } finally {
    await services.close()
  }
}
