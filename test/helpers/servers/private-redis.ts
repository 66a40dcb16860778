import { once } from 'node:events'
import { connect } from 'node:net'
import type { ExecutionContext } from 'ava'
import { Redis } from 'ioredis'
import { stopChild } from '../../../scripts/bootstrap/child-process.mjs'
import { freePort } from '../../../scripts/dev/ports.js'
import { redisProgram, redisReady } from '../../../scripts/dev/redis.js'
import { startProgram } from '../../../scripts/dev/supervise.js'
import { temporaryFolder } from '../temporary-folder.js'
import { until } from '../until.js'

/** A Redis server for one test, which may flush, freeze and kill it. It is stopped after the test. */
export interface PrivateRedis {
  readonly url: string
  /** Runs one command on a connection of its own. */
  command(...words: [string, ...string[]]): Promise<unknown>
  /** Stops the process (SIGSTOP) until `thaw`. Its connections stay open and unanswered. */
  freeze(): void
  thaw(): void
  /** Kills it (SIGKILL). */
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
    const child = startProgram(redisProgram(port, folder))
    const ended = once(child, 'exit')
    await redisReady(port, () => child.exitCode === null)
    // The pid of the server, not of its wrapper process: the wrapper must stay alive to end the server with this process.
    const pid = Number(/process_id:(\d+)/.exec(String(await command('INFO', 'server')))?.[1])
    t.teardown(async () => {
      if (server.pid === pid) process.kill(pid, 'SIGCONT')
      await stopChild(child, stopMs)
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

/**
 * Records every command a Redis receives from now on. Returns how to read them, one command per line. It uses a plain
 * socket: ioredis fails when a command arrives in the same packet as the answer to MONITOR.
 */
export async function monitorRedis(t: ExecutionContext, url: string): Promise<() => string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  t.teardown(() => socket.destroy())
  socket.write('MONITOR\r\n')
  await until('MONITOR is active', () => received.startsWith('+OK\r\n'))
  return () => received
}
