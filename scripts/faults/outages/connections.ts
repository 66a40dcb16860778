import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startServers } from '../../kit/servers.js'
import { brokenConnection, mildRefusals } from '../world/client-notes.js'
import type { Disturbance, OpenScenario } from '../world/scenario.js'

/** Three of them are for superusers, which the service is not. */
const connectionsMost = 20
const role = 'service'
const heldMs = 5000
const readers = 64
const reads = 40

/** PostgreSQL takes 20 connections. The pools of six processes together are three times as large. */
export const connections: OpenScenario = async ({ folder, defer }) => {
  const servers = await startServers(folder, defer, ['-c', `max_connections=${connectionsMost}`])
  await servers.sql(`create role ${role} login; grant all on all tables in schema public to ${role};
    grant all on all sequences in schema public to ${role}; alter database service owner to ${role}`)
  const asService = new URL(servers.databaseUrl)
  asService.username = role
  const connect = async (): Promise<pg.Client | undefined> => {
    const client = new pg.Client({ connectionString: asService.href })
    client.on('error', () => undefined)
    return client.connect().then(
      () => client,
      () => undefined,
    )
  }

  const take: Disturbance = {
    name: 'another program takes all free connections',
    async act() {
      const held: pg.Client[] = []
      for (let one = await connect(); one !== undefined; one = await connect()) held.push(one)
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
    ...servers,
    stage: { serviceDatabaseUrl: asService.href },
    disturbances: [take, crowd, kill],
    // Under load the others keep what a killed process had. Those that have connections serve.
    readyLeast: 1,
    mayAnswer: [...mildRefusals, brokenConnection],
  }
}
