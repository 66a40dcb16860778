import { connect } from 'node:net'
import { resolve } from 'node:path'
import type { Program } from './supervise.js'
import { waitUntil } from './wait-until.js'

const readyMs = 15_000
const answerMs = 1_000

/** Redis is a wake-up call here, never the truth: nothing is kept on disk, and nothing is thrown away to make room. */
export function redisProgram(port: number, dataDir: string): Program {
  const address = ['--port', String(port), '--bind', '127.0.0.1']
  const memoryOnly = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction']
  const log = ['--dir', resolve(dataDir), '--logfile', resolve(dataDir, 'redis.log'), '--loglevel', 'warning']
  return { command: 'redis-server', args: [...address, ...memoryOnly, ...log], signal: 'SIGTERM' }
}

/** Waits until Redis answers; fails after 15 s, or as soon as `alive` says there is nothing to wait for. */
export async function redisReady(port: number, alive: () => boolean): Promise<void> {
  if (!(await waitUntil(() => answers(port), readyMs, alive)))
    throw new Error('Redis did not start; redis.log in the data folder says why')
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.setTimeout(answerMs, () => socket.destroy())
    socket.once('data', (reply) => {
      socket.destroy()
      done(reply.toString().startsWith('+PONG'))
    })
    socket.on('error', () => undefined)
    socket.once('close', () => done(false))
  })
}
