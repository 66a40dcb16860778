import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type App, createApp } from '../../src/app.js'
import { type Composed, compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config.js'

/** An app that goes away and comes back at the same address, as in a deploy. */
export interface RestartableApp {
  readonly url: string
  /** Ends it. Meanwhile whoever asks is answered 503 by what stands before it, or by nothing at all. */
  stop(meanwhile: '503' | 'nothing'): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

export async function startRestartableApp(env: Readonly<Record<string, string>>): Promise<RestartableApp> {
  let running: { app: App; services: Composed } | undefined
  let server: Server | undefined
  let port = 0
  const listen = async (one: Server): Promise<void> => {
    await new Promise<void>((done) => one.listen(port, '127.0.0.1', done))
    port = (one.address() as AddressInfo).port
    server = one
  }
  const end = async (): Promise<void> => {
    await running?.app.close()
    server?.closeAllConnections()
    await new Promise((done) => server?.close(done) ?? done(undefined))
    await running?.services.close()
    running = undefined
    server = undefined
  }
  const start = async (): Promise<void> => {
    await end()
    const services = compose(loadConfig(env), 'test')
    const app = createApp(services)
    running = { app, services }
    await listen(createServer(app.koa.callback()))
  }
  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    start,
    async stop(meanwhile) {
      await end()
      if (meanwhile === '503')
        await listen(createServer((_, response) => response.writeHead(503).end('busy')))
    },
    close: end,
  }
}
