import { setTimeout as sleep } from 'node:timers/promises'
import { migrateToLatest } from '../../../../src/platform/database/migrations/migrate.js'
import { freePort } from '../../../dev/ports.js'
import { startPostgres } from '../../../dev/postgres/postgres.js'
import { brokenConnection } from '../client-notes.js'
import { startRedis } from '../redis.js'
import type { Disturbance, Scenario } from '../scenario.js'

const longestMs = 4000
const mostKills = 4

/** PostgreSQL crashes, alone and together with processes of the service. */
export const crashes: Scenario = async ({ folder }) => {
  const options = { dataDir: folder, port: await freePort() }
  let postgres = await startPostgres(options)
  const redis = await startRedis(folder)
  const databaseUrl = postgres.url('postgres')
  await migrateToLatest(databaseUrl)

  const crash: Disturbance = {
    name: 'PostgreSQL killed',
    async act(_, draw) {
      await postgres.kill()
      await sleep(longestMs * draw.next())
      postgres = await startPostgres(options)
    },
  }
  const crashTwice: Disturbance = {
    name: 'PostgreSQL killed, and again while it is used first',
    async act(run, draw) {
      await crash.act(run, draw)
      await run.untilDone(1)
      await crash.act(run, draw)
    },
  }
  const kill: Disturbance = {
    name: 'processes killed',
    async act({ stage }, draw) {
      for (let left = draw.whole(1, mostKills); left > 0; left--) stage.killOne(draw.next())
    },
  }
  const both: Disturbance = {
    name: 'PostgreSQL and processes killed',
    async act(run, draw) {
      await Promise.all([crash.act(run, draw), kill.act(run, draw)])
    },
  }
  return {
    servers: { databaseUrl, redisUrl: redis.url },
    disturbances: [crash, crashTwice, kill, both],
    mayAnswer: [brokenConnection],
    async close() {
      await redis.stop()
      await postgres.stop()
    },
  }
}
