import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { closeServer } from '../../../scripts/sandbox/http-server.js'
import { createApp } from '../../../src/app.js'
import type { Composed } from '../../../src/compose.js'
import { createHttpServer } from '../../../src/http/server.js'
import { noteRoutes } from './reached.js'
import { composeAs } from './roles.js'

/** An app in this process. */
export interface ServedApp {
  readonly url: string
  readonly port: number
  readonly services: Composed
  /** Connections that clients hold to it. */
  connections(): Promise<number>
  /** Stops it. Further calls do nothing. */
  close(): Promise<void>
}

/** Starts an app with these settings on a local port. Port 0 takes any free port. The caller closes the app. */
export async function serveApp(env: Readonly<Record<string, string>>, port = 0): Promise<ServedApp> {
  const services = composeAs('web', env)
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
    await noteRoutes(app, services.metrics)
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

/** Starts another app in this process for one test. It is closed after the test at the latest. */
export async function startApp(
  t: ExecutionContext,
  env: Readonly<Record<string, string>>,
): Promise<ServedApp> {
  const app = await serveApp(env)
  t.teardown(app.close)
  return app
}

/** An app that stops and restarts at the same address, as in a deploy. */
export interface RestartableApp {
  readonly url: string
  /** Stops the app. Meanwhile requests are answered 503, as by a load balancer, or the connection is refused. */
  stop(meanwhile: '503' | 'nothing'): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

export async function startRestartableApp(env: Readonly<Record<string, string>>): Promise<RestartableApp> {
  const first = await serveApp(env)
  const { url, port } = first
  let end: () => Promise<void> = first.close
  return {
    url,
    async start() {
      await end()
      end = (await serveApp(env, port)).close
    },
    async stop(meanwhile) {
      await end()
      if (meanwhile === 'nothing') return
      const busy = createServer((_, response) => response.writeHead(503).end('busy'))
      await once(busy.listen(port, '127.0.0.1'), 'listening')
      end = () => closeServer(busy)
    },
    close: () => end(),
  }
}
