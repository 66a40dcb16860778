import { once } from 'node:events'
import { createServer } from 'node:http'
import { closeServer } from '../../../scripts/sandbox/http-server.js'
import { serveApp } from './serve-app.js'

/** An app that goes away and comes back at the same address, as in a deploy. */
export interface RestartableApp {
  readonly url: string
  /** Ends it. Meanwhile whoever asks is answered 503 by what stands before it, or by nothing at all. */
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
