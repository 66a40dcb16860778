import { createServer } from 'node:http'
import { operatorsPages } from '../src/operators/routes.js'
import type { loadOperators } from '../src/platform/config/own-settings.js'
import type { Services } from '../src/services.js'

type Settings = NonNullable<ReturnType<typeof loadOperators>>

/**
 * Serves the operators' pages from this process. A port in use is logged and does not stop the clock: its schedules
 * matter more, and of several clocks on one machine only one can serve the pages. Returns how to stop.
 */
export async function startOperators(
  services: Services,
  { host, port, ...login }: Settings,
): Promise<() => Promise<void>> {
  const server = createServer(operatorsPages(services, login))
  await new Promise<void>((done) => {
    server.once('error', (error) => {
      services.log.error({ err: error }, "the operators' pages cannot be served")
      done()
    })
    server.listen(port, host, () => {
      services.log.info({ host, address: server.address() }, "operators' pages")
      done()
    })
  })
  return async () => {
    server.close()
    server.closeAllConnections()
  }
}
