import { setTimeout as sleep } from 'node:timers/promises'
import type { Sandbox } from '../../../sandbox/server.js'
import { startMigratedPostgres } from '../../servers/postgres.js'
import { startRedis } from '../redis.js'
import type { Disturbance, Scenario } from '../scenario.js'
import { startTcpProxy } from '../tcp-proxy.js'

/** What the service talks to. */
const providers = ['chain', 'prices', 'rates', 'fiatpay', 'mail', 'redis', 'postgresql'] as const
type Provider = (typeof providers)[number]

const leastMs = 8000
const furtherMs = 12_000
/** No answer comes later, whoever is silent. */
const longestAnswerMs = 20_000

/** Each provider accepts connections and never answers, one after the other and two at once. What was sent arrives late. */
export const blackholes: Scenario = async ({ folder }) => {
  const postgres = await startMigratedPostgres(folder)
  const redis = await startRedis(folder)
  const nowhere = 'http://127.0.0.1:9'
  const silent = {
    chain: await late(nowhere),
    'second chain': await late(nowhere),
    prices: await late(nowhere),
    rates: await late(nowhere),
    fiatpay: await late(nowhere),
    mail: await late('smtp://127.0.0.1:9'),
    redis: await late(redis.url),
    postgresql: await late(postgres.databaseUrl),
  }

  const hold = (name: Provider, on: boolean): void => {
    silent[name].hold(on)
    if (name === 'chain') silent['second chain'].hold(on)
  }
  async function silence(names: readonly Provider[], ms: number): Promise<void> {
    for (const name of names) hold(name, true)
    try {
      await sleep(ms)
    } finally {
      for (const name of names) hold(name, false)
    }
  }
  const one = (name: Provider): Disturbance => ({
    name: `silent: ${name}`,
    async act(_, draw) {
      await silence([name], leastMs + furtherMs * draw.next())
    },
  })
  const first: Disturbance = {
    name: 'silent: the first RPC endpoint',
    async act(_, draw) {
      silent.chain.hold(true)
      await sleep(leastMs + furtherMs * draw.next())
      silent.chain.hold(false)
    },
  }
  const two: Disturbance = {
    name: 'silent: two at once',
    async act(_, draw) {
      const left = [...providers]
      const [one] = left.splice(draw.whole(0, left.length - 1), 1)
      const [other] = left.splice(draw.whole(0, left.length - 1), 1)
      if (one !== undefined && other !== undefined)
        await silence([one, other], leastMs + furtherMs * draw.next())
    },
  }
  return {
    servers: { databaseUrl: postgres.databaseUrl, redisUrl: silent.redis.url },
    serviceDatabaseUrl: silent.postgresql.url,
    env(sandbox: Sandbox) {
      for (const name of ['chain', 'second chain', 'prices', 'rates', 'fiatpay'] as const)
        silent[name].moveTo(sandbox.url)
      silent.mail.moveTo(sandbox.mail.url)
      return {
        RATE_LIMIT_FACTOR: '1000',
        SOLANA_RPC_URLS: `${addressOf(silent.chain)},${addressOf(silent['second chain'])}`,
        PRICE_URL: `${addressOf(silent.prices)}/price/v3`,
        RATE_URL: `${addressOf(silent.rates)}/rates/USD`,
        FIATPAY_URL: `${addressOf(silent.fiatpay)}/fiatpay`,
        SMTP_URL: addressOf(silent.mail),
      }
    },
    disturbances: [...providers.map(one), first, two],
    mayAnswer: ['503 price_unavailable', '503 rate_unavailable'],
    async check({ notes: { slowest } }) {
      return Object.entries(slowest).flatMap(([answer, ms]) =>
        ms > longestAnswerMs ? [`${answer} came after ${ms} ms; ${longestAnswerMs} is the most`] : [],
      )
    },
    async close() {
      await Promise.all(Object.values(silent).map((proxy) => proxy.close()))
      await redis.stop()
      await postgres.stop()
    },
  }
}

const late = (url: string) => startTcpProxy(url, undefined, true)
const addressOf = ({ url }: { readonly url: string }): string => url.replace(/\/$/, '')
