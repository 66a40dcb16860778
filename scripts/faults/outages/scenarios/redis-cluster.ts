import { startMigratedPostgres } from '../../servers/postgres.js'
import { RedisCluster } from '../../servers/redis-cluster.js'
import { brokenConnection } from '../client-notes.js'
import { messageFaults, untilReadiness } from '../redis-watch.js'
import type { Disturbance, Run, Scenario } from '../scenario.js'
import { countedLimits } from './redis.js'

const login = { user: 'tips', password: 's3cret@:' }
const actsWithout = 20
const keys = 1000

/**
 * A Redis Cluster with a user and a password, of which the service knows one address: masters killed and replaced by their replicas,
 * all keys deleted, and the password refused.
 */
export const redisCluster: Scenario = async ({ seed, folder, report }) => {
  const postgres = await startMigratedPostgres(folder)
  const cluster = await RedisCluster.start(folder, login)
  /** The queues of an installation are on one node. */
  const queues = `{outage-${seed}}`
  let away = 0
  let partly = 0

  async function replaceMaster(run: Run, key: string, during: () => Promise<void>): Promise<void> {
    const master = await cluster.masterOf(key)
    const startedAt = performance.now()
    await master.kill()
    await during()
    await cluster.untilReplaced(key, master)
    report(`the replica is master after ${Math.round(performance.now() - startedAt)} ms`)
    await untilReadiness(run, 'ok')
    report(`Redis is used again after ${Math.round(performance.now() - startedAt)} ms`)
    await master.start()
    await cluster.untilReplicated()
  }
  const killQueues: Disturbance = {
    name: 'the master of the queues killed, its replica promoted',
    async act(run) {
      partly += 1
      await replaceMaster(run, queues, () => untilReadiness(run, 'degraded'))
    },
  }
  const killAny: Disturbance = {
    name: 'any master killed, its replica promoted',
    async act(run, draw) {
      partly += 1
      await replaceMaster(run, `key-${draw.whole(1, keys)}`, () => run.untilDone(1))
    },
  }
  const flush: Disturbance = {
    name: 'every node emptied (FLUSHALL)',
    async act() {
      for (const node of await cluster.masters()) await node.command('FLUSHALL')
    },
  }
  const refuse: Disturbance = {
    name: 'every node refuses the password',
    async act(run) {
      away += 1
      for (const node of cluster.nodes) await node.refuse()
      await untilReadiness(run, 'degraded')
      await run.untilDone(actsWithout)
      for (const node of cluster.nodes) await node.accept()
      await untilReadiness(run, 'ok')
    },
  }
  const restart: Disturbance = {
    name: 'the node of REDIS_URL and a process killed',
    async act(run, draw) {
      partly += 1
      const [named] = cluster.nodes
      if (named === undefined) return
      await named.kill()
      run.stage.killOne(draw.next())
      await run.untilDone(actsWithout)
      await named.start()
      await cluster.untilReplicated()
      await untilReadiness(run, 'ok')
    },
  }
  return {
    servers: { databaseUrl: postgres.databaseUrl, redisUrl: cluster.oneUrl },
    env: () => ({ ...countedLimits, REDIS_CLUSTER: 'true' }),
    disturbances: [killQueues, killAny, flush, refuse, restart],
    mayAnswer: [brokenConnection],
    check: async (run) => messageFaults(run, { least: away, most: away + partly }),
    async close() {
      await cluster.close()
      await postgres.stop()
    },
  }
}
