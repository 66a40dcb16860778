import { stopChild } from '../../bootstrap/child-process.mjs'
import { freePort } from '../../dev/ports.js'
import { redisProgram, redisReady } from '../../dev/redis.js'
import { startProgram } from '../../dev/supervise.js'

const stopMs = 5000

/** A Redis of this run. Stopped, it has forgotten everything. */
export async function startRedis(
  folder: string,
  givenPort?: number,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const port = givenPort ?? (await freePort())
  const child = startProgram(redisProgram(port, folder))
  await redisReady(port, () => child.exitCode === null)
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      await stopChild(child, stopMs)
    },
  }
}
