import { once } from 'node:events'
import type { ExecutionContext } from 'ava'
import { Redis } from 'ioredis'
import { endKept } from '../../../scripts/bootstrap/keep.mjs'
import { freePort } from '../../../scripts/dev/ports.js'
import { redisProgram, redisReady } from '../../../scripts/dev/redis.js'
import { startOnce } from '../../../scripts/dev/supervise.js'
import { temporaryFolder } from '../temporary.js'

/** A Redis one test may flush, freeze and kill; stopped after it. */
export interface PrivateRedis {
  readonly url: string
  /** Runs one command; the connection lasts no longer. */
  command(...words: [string, ...string[]]): Promise<unknown>
  /** Stops it from answering while its connections stay open, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  startAgain(): Promise<void>
}

const stopMs = 5000

export async function privateRedis(t: ExecutionContext): Promise<PrivateRedis> {
  const folder = temporaryFolder(t)
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let server = { pid: 0, ended: Promise.resolve() as Promise<unknown> }

  async function command(...[name, ...words]: [string, ...string[]]): Promise<unknown> {
    const client = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null })
    client.on('error', () => undefined)
    try {
      return await client.call(name, ...words)
    } finally {
      client.disconnect()
    }
  }
  async function start(): Promise<void> {
    const child = startOnce(redisProgram(port, folder))
    const ended = once(child, 'exit')
    await redisReady(port, () => child.exitCode === null)
    // The server itself: what keeps it must go on, or nothing would end it with this process.
    const pid = Number(/process_id:(\d+)/.exec(String(await command('INFO', 'server')))?.[1])
    t.teardown(async () => {
      if (server.pid === pid) process.kill(pid, 'SIGCONT')
      await endKept(child, stopMs)
    })
    server = { pid, ended }
  }
  await start()
  return {
    url,
    command,
    freeze: () => void process.kill(server.pid, 'SIGSTOP'),
    thaw: () => void process.kill(server.pid, 'SIGCONT'),
    async kill() {
      process.kill(server.pid, 'SIGKILL')
      server.pid = 0
      await server.ended
    },
    startAgain: start,
  }
}
