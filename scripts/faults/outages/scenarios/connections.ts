import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { migrateToLatest } from '../../../../src/platform/database/migrations/migrate.js'
import { freePort } from '../../../dev/ports.js'
import { startPostgres } from '../../../dev/postgres/postgres.js'
import { withConnection } from '../../../dev/postgres/session.js'
import { brokenConnection } from '../client-notes.js'
import { startRedis } from '../redis.js'
import type { Disturbance, Scenario } from '../scenario.js'

/** Three of them are for superusers, which the service is not. */
const connectionsMost = 20
const role = 'service'
const heldMs = 5000
const readers = 64
const reads = 40

/** PostgreSQL takes 20 connections. The pools of six processes together are three times as large. */
export const connections: Scenario = async ({ folder }) => {
  const postgres = await startPostgres({
    dataDir: folder,
    port: await freePort(),
    flags: ['-c', `max_connections=${connectionsMost}`],
  })
  const redis = await startRedis(folder)
  const databaseUrl = postgres.url('postgres')
  const asService = new URL(databaseUrl)
  asService.username = role
  await withConnection(databaseUrl, async (client) => {
    await client.query(`create role ${role} login`)
    await client.query(`alter database postgres owner to ${role}`)
    await client.query(`grant all on schema public to ${role}`)
  })
  await migrateToLatest(asService.href)

  const take: Disturbance = {
    name: 'another program takes all free connections',
    async act() {
      const held: pg.Client[] = []
      for (let n = 0; n < connectionsMost; n++) {
        const client = new pg.Client({ connectionString: asService.href })
        client.on('error', () => undefined)
        if (
          !(await client.connect().then(
            () => true,
            () => false,
          ))
        )
          break
        held.push(client)
      }
      await sleep(heldMs)
      await Promise.all(held.map((client) => client.end()))
    },
  }
  const crowd: Disturbance = {
    name: `${readers} readers at the same time`,
    async act({ stage }) {
      const path = `${stage.url}/chain/tips?address=${stage.creators[0]?.wallet}`
      const reader = async () => {
        for (let n = 0; n < reads; n++)
          await fetch(path)
            .then((answer) => answer.text())
            .catch(() => undefined)
      }
      await Promise.all(Array.from({ length: readers }, reader))
    },
  }
  const kill: Disturbance = {
    name: 'a process killed, and another one takes its connections',
    async act({ stage }, draw) {
      stage.killOne(draw.next())
    },
  }
  return {
    servers: { databaseUrl, redisUrl: redis.url },
    serviceDatabaseUrl: asService.href,
    disturbances: [take, crowd, kill],
    // Under load the others keep what a killed process had. Those that have connections serve.
    readyLeast: 1,
    mayAnswer: [brokenConnection],
    async close() {
      await redis.stop()
      await postgres.stop()
    },
  }
}
