import { connect } from 'node:net'
import type { ExecutionContext } from 'ava'
import { until } from '../until.js'

/**
 * Everything that goes through a Redis from now on, one command a line. On a bare socket: ioredis takes a command that
 * arrives together with the answer to MONITOR for an answer, and gives up.
 */
export async function monitorRedis(t: ExecutionContext, url: string): Promise<() => string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let told = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  t.teardown(() => socket.destroy())
  socket.write('MONITOR\r\n')
  await until('Redis tells its commands', () => told.startsWith('+OK\r\n'))
  return () => told
}
