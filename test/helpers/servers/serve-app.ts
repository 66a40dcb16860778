import type { AddressInfo } from 'node:net'
import { createApp } from '../../../src/app.js'
import { type Composed, compose } from '../../../src/compose.js'
import { createHttpServer } from '../../../src/http/server.js'
import { loadConfig } from '../../../src/platform/config/config.js'

/** An app in this process. */
export interface ServedApp {
  readonly url: string
  readonly port: number
  readonly services: Composed
  /** Connections that clients hold to it. */
  connections(): Promise<number>
  /** Ends it, once however often it is called. */
  close(): Promise<void>
}

/** Starts an app with these settings on a port of this machine; 0: any free one. Whoever starts it closes it. */
export async function serveApp(env: Readonly<Record<string, string>>, port = 0): Promise<ServedApp> {
  const services = compose(loadConfig(env), 'test')
  const app = createApp(services)
  const server = createHttpServer(app.koa.callback())
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(port, '127.0.0.1', listening)
  })
  const bound = (server.address() as AddressInfo).port
  let closing: Promise<void> | undefined
  async function shut(): Promise<void> {
    const closed = new Promise((done) => server.close(done))
    await app.close()
    server.closeAllConnections()
    await closed
    await services.close()
  }
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    services,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    close() {
      closing ??= shut()
      return closing
    },
  }
}
