import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Draw } from '../kit/draw.js'
import { startServers } from '../kit/servers.js'
import { startTcpProxy, type TcpProxy } from '../kit/tcp-proxy.js'
import { brokenConnection, mildRefusals } from './world/client-notes.js'
import type { Disturbance, OpenScenario, Run } from './world/run-scenario.js'

const mayBreak = [...mildRefusals, brokenConnection]
const longestCrashMs = 4000
const mostKills = 4

/** PostgreSQL crashes, alone and together with processes of the service. */
export const crashes: OpenScenario = async ({ folder, defer }) => {
  const servers = await startServers(folder, defer)
  const crash = async (draw: Draw): Promise<void> => {
    await servers.kill()
    await sleep(longestCrashMs * draw.next())
    await servers.start()
  }
  const kill = ({ stage }: Run, draw: Draw): void => {
    for (let left = draw.whole(1, mostKills); left > 0; left--) stage.killOne(draw.next())
  }
  return {
    ...servers,
    disturbances: [
      { name: 'PostgreSQL killed', act: (_, draw) => crash(draw) },
      {
        name: 'PostgreSQL killed, and again while it is used first',
        async act({ untilDone }, draw) {
          await crash(draw)
          await untilDone(1)
          await crash(draw)
        },
      },
      { name: 'processes killed', act: async (run, draw) => kill(run, draw) },
      {
        name: 'PostgreSQL and processes killed',
        async act(run, draw) {
          const crashed = crash(draw)
          kill(run, draw)
          await crashed
        },
      },
    ],
    mayAnswer: mayBreak,
  }
}

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
  return {
    ...servers,
    stage: { serviceDatabaseUrl: asService.href },
    disturbances: [
      {
        name: 'another program takes all free connections',
        async act() {
          const held: pg.Client[] = []
          for (let one = await connect(); one !== undefined; one = await connect()) held.push(one)
          await sleep(heldMs)
          await Promise.all(held.map((client) => client.end()))
        },
      },
      {
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
      },
      {
        name: 'a process killed, and another one takes its connections',
        act: async ({ stage }, draw) => stage.killOne(draw.next()),
      },
    ],
    // Under load the others keep what a killed process had. Those that have connections serve.
    readyLeast: 1,
    mayAnswer: mayBreak,
  }
}

/** What the service talks to, and where that is until the stand-ins have started. */
const addresses = {
  chain: 'http://127.0.0.1:9',
  'second chain': 'http://127.0.0.1:9',
  prices: 'http://127.0.0.1:9',
  rates: 'http://127.0.0.1:9',
  fiatpay: 'http://127.0.0.1:9',
  mail: 'smtp://127.0.0.1:9',
}
const silentMs = (draw: Draw): number => 8000 + 12_000 * draw.next()
/** No answer comes later, whoever is silent. */
const longestAnswerMs = 20_000

/** Each provider accepts connections and never answers, one after the other and two at once. What was sent arrives late. */
export const blackholes: OpenScenario = async ({ folder, defer }) => {
  const servers = await startServers(folder, defer)
  const targets = { ...addresses, redis: servers.redisUrl, postgresql: servers.databaseUrl }
  const ways = new Map<string, TcpProxy>()
  for (const [name, url] of Object.entries(targets)) {
    const way = await startTcpProxy(url, undefined, true)
    defer(() => way.close())
    ways.set(name, way)
  }
  const urlOf = (name: keyof typeof targets): string => (ways.get(name)?.url ?? '').replace(/\/$/, '')
  const silent = (name: string, namesOf: (draw: Draw) => readonly string[]): Disturbance => ({
    name: `silent: ${name}`,
    async act(_, draw) {
      const names = namesOf(draw)
      for (const one of names) ways.get(one)?.hold(true)
      await sleep(silentMs(draw))
      for (const one of names) ways.get(one)?.hold(false)
    },
  })
  const all = [['chain', 'second chain'], ...Object.keys(targets).slice(2)].map((name) => [name].flat())
  return {
    databaseUrl: servers.databaseUrl,
    redisUrl: urlOf('redis'),
    stage: {
      serviceDatabaseUrl: urlOf('postgresql'),
      env(sandbox) {
        for (const [name, way] of ways)
          if (name in addresses) way.moveTo(name === 'mail' ? sandbox.mail.url : sandbox.url)
        return {
          RATE_LIMIT_FACTOR: '1000',
          SOLANA_RPC_URLS: `${urlOf('chain')},${urlOf('second chain')}`,
          PRICE_URL: `${urlOf('prices')}/price/v3`,
          RATE_URL: `${urlOf('rates')}/rates/USD`,
          FIATPAY_URL: `${urlOf('fiatpay')}/fiatpay`,
          SMTP_URL: urlOf('mail'),
        }
      },
    },
    disturbances: [
      ...all.map((names) => silent(names[0] ?? '', () => names)),
      silent('the first RPC endpoint', () => ['chain']),
      silent('two at once', (draw) => [...draw.oneOf(all), ...draw.oneOf(all)]),
    ],
    mayAnswer: [...mildRefusals, '503 price_unavailable', '503 rate_unavailable'],
    check: async ({ notes }) => notes.slowerThan(longestAnswerMs),
  }
}
