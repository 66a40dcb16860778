import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { createApp } from '../../src/app.js'
import { type Composed, compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config.js'

/** One more app in this process, with settings of its own. */
export interface SecondApp {
  readonly url: string
  readonly services: Composed
  /** Connections that clients hold to it. */
  connections(): Promise<number>
  close(): Promise<void>
}

/** Starts an app on a free port; closed after the test if not before. */
export async function startApp(
  t: ExecutionContext,
  env: Readonly<Record<string, string>>,
): Promise<SecondApp> {
  const services = compose(loadConfig(env), 'test')
  const app = createApp(services)
  const server = createServer(app.koa.callback())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  let closing: Promise<void> | undefined
  async function shut(): Promise<void> {
    const closed = new Promise((done) => server.close(done))
    await app.close()
    server.closeAllConnections()
    await closed
    await services.close()
  }
  const close = (): Promise<void> => {
    closing ??= shut()
    return closing
  }
  t.teardown(close)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    services,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    close,
  }
}
