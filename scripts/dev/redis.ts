import { connect } from 'node:net'
import { resolve } from 'node:path'
import type { ProcessGroup } from './process-group.js'
import type { Program } from './supervise.js'
import { waitUntil } from './wait-until.js'

const readyMs = 15_000
const answerMs = 1_000

/** Redis only carries wake-ups, so it stores nothing on disk. It must not evict keys (BullMQ). */
export function redisProgram(port: number, dataDir: string): Program {
  const address = ['--port', String(port), '--bind', '127.0.0.1']
  const memoryOnly = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction']
  const log = ['--dir', resolve(dataDir), '--logfile', resolve(dataDir, 'redis.log'), '--loglevel', 'warning']
  return { command: 'redis-server', args: [...address, ...memoryOnly, ...log], signal: 'SIGTERM' }
}

/** Starts Redis among these processes and waits until it answers. Returns its URL. */
export async function superviseRedis(
  processes: ProcessGroup,
  port: number,
  dataDir: string,
): Promise<string> {
  processes.start('support', 'redis', redisProgram(port, dataDir))
  await redisReady(port, () => processes.mayStillStart)
  return `redis://127.0.0.1:${port}`
}

/** Waits until Redis answers. Throws after 15 s, or as soon as `mayStillStart` returns false. */
export async function redisReady(port: number, mayStillStart: () => boolean): Promise<void> {
  if (!(await waitUntil(() => answers(port), readyMs, mayStillStart)))
    throw new Error('Redis did not start; see redis.log in the data folder')
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
