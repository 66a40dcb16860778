import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

/** Loaded into a server whose memory is measured: what it no longer uses is freed before each reading. Needs `--expose-gc`. */
subscribe('http.server.request.start', (message) => {
  if ((message as { request: IncomingMessage }).request.url === '/metrics') globalThis.gc?.()
})
