import { createServer } from 'node:http'
import { operatorsPages } from '../src/operators/routes.js'
import type { loadOperators } from '../src/platform/config/config.js'
import { openQueues } from '../src/platform/queue/queues.js'
import type { Services } from '../src/services.js'

type Settings = NonNullable<ReturnType<typeof loadOperators>>

/**
 * Serves the operators' pages from this process. A port that is taken is a line of the log and no more: the clock's
 * schedules matter more, and where several run on a machine one of them serves. Returns how to stop.
 */
export async function startOperators(
  services: Services,
  { host, port, ...login }: Settings,
): Promise<() => Promise<void>> {
  const queues = openQueues(services.config.redis)
  const server = createServer(operatorsPages(services, queues, login))
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
    await queues.close()
  }
}
