import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificates } from '../../servers/certificates.js'
import { startMigratedPostgres } from '../../servers/postgres.js'
import { RedisProcess } from '../../servers/redis-process.js'
import { messageFaults, untilReadiness } from '../redis-watch.js'
import type { Disturbance, Run, Scenario } from '../scenario.js'
import { startTcpProxy } from '../tcp-proxy.js'

const login = { user: 'tips', password: 's3cret@:' }
/** Far more than anybody reaches, so that limits are counted in Redis. */
export const countedLimits = { RATE_LIMIT_FACTOR: '1000' }
const actsWithout = 20
const mostFlushes = 5
/** A connection on which a command waits for five seconds is given up. */
const silentMs = 8000

/** One Redis with TLS by a CA of its own and a user with a password: killed, emptied, silent, and refusing the password. */
export const redis: Scenario = async ({ folder, report }) => {
  const certificates = makeCertificates(folder)
  const postgres = await startMigratedPostgres(folder)
  const server = await RedisProcess.start({ folder, login, certificates })
  const proxy = await startTcpProxy(server.url)
  let told = 0

  /** The service works without Redis, says so, and uses it again afterwards. */
  async function without(run: Run, take: () => Promise<void> | void, give: () => Promise<void> | void) {
    await take()
    await untilReadiness(run, 'degraded')
    await run.untilDone(actsWithout)
    await give()
    const since = performance.now()
    await untilReadiness(run, 'ok')
    report(`Redis is used again after ${Math.round(performance.now() - since)} ms`)
  }
  const kill: Disturbance = {
    name: 'Redis killed, and started empty',
    async act(run) {
      told += 1
      await without(
        run,
        () => server.kill(),
        () => server.start(),
      )
    },
  }
  const flush: Disturbance = {
    name: 'Redis emptied (FLUSHALL)',
    async act(run, draw) {
      for (let left = draw.whole(1, mostFlushes); left > 0; left--) {
        await server.command('FLUSHALL')
        await run.untilDone(2)
      }
    },
  }
  const refuse: Disturbance = {
    name: 'Redis refuses the password',
    async act(run) {
      told += 1
      await without(
        run,
        () => server.refuse(),
        () => server.accept(),
      )
    },
  }
  const silence: Disturbance = {
    name: 'Redis accepts connections and never answers',
    async act(run) {
      told += 1
      await without(
        run,
        () => proxy.hold(true),
        async () => {
          await sleep(silentMs)
          proxy.hold(false)
        },
      )
    },
  }
  return {
    servers: { databaseUrl: postgres.databaseUrl, redisUrl: proxy.url },
    env: () => ({ ...countedLimits, REDIS_TLS_CA: certificates.caFile }),
    disturbances: [kill, flush, refuse, silence],
    check: async (run) => messageFaults(run, { least: told, most: told }),
    async close() {
      await proxy.close()
      await server.close()
      await postgres.stop()
    },
  }
}
