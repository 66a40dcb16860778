import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateToLatest } from '../../../src/platform/database/migrations/migrate.js'
import { freePort } from '../../dev/ports.js'
import { startPostgres } from '../../dev/postgres/postgres.js'
import { waitUntil } from '../../dev/wait-until.js'
import type { Draw } from '../acts/draw.js'
import { bankFaults } from '../month/stage.js'
import { brokenConnection } from '../outages/client-notes.js'
import { startRedis } from '../outages/redis.js'
import type { Disturbance, OpenScenario, Run, Scenario } from '../outages/scenario.js'
import { startTcpProxy, type TcpProxy } from '../outages/tcp-proxy.js'
import { type Fired, needPrometheus, type Prometheus, startPrometheus } from './prometheus.js'

const downMs = 4000
const faultyMs = 8000
const mostKills = 4
const restartMs = 60_000
const nowhere = 'http://127.0.0.1:1'
/** Each of these rules waits two minutes at most after its condition began, and rows and scrapes are late too. */
const noticedMs = 300_000

/** Refusals that say when to come again, or name the provider that is away. */
const mayAnswer = [
  brokenConnection,
  '503 chain_unavailable',
  '503 prices_unavailable',
  '503 rate_unavailable',
  '503 payment_unavailable',
]

interface Chaos extends OpenScenario {
  readonly disturbances: readonly Disturbance[]
}

/** Everything that goes wrong for seconds and needs no person. A Prometheus with the shipped rules watches. */
export const chaos: Scenario = async (options) => {
  const watched = await openChaos(options)
  return {
    ...watched.scenario,
    async check() {
      const woken = (await watched.prometheus().fired()).filter(({ severity }) => severity === 'page')
      options.report(`fired: ${(await watched.prometheus().fired()).map(told).join('; ') || 'no alert'}`)
      const { all, failed } = await watched.prometheus().scrapes()
      options.report(`Prometheus read ${all} times, ${failed} in vain`)
      return woken.map((alert) => `a person was woken: ${told(alert)}`)
    },
  }
}

/** The same, with one worker kept dead until its alerts fire. */
export function chaosWithDead(name: string, expected: readonly string[]): Scenario {
  return async (options) => {
    const watched = await openChaos(options)
    const keptDead: Disturbance = {
      name: `${name} kept dead`,
      async act({ stage }) {
        const found = stage.processes.find((one) => one.name === name)
        if (found === undefined) throw new Error(`there is no process ${name}`)
        const heldAt = Date.now()
        const release = found.process.hold()
        for (const alert of expected) {
          const fires = async () => (await watched.prometheus().fired()).some((one) => one.name === alert)
          if (await waitUntil(fires, noticedMs))
            options.report(`${alert} fired after ${Math.round((Date.now() - heldAt) / 1000)} s`)
        }
        release()
      },
    }
    return {
      ...watched.scenario,
      disturbances: [keptDead],
      async check() {
        const fired = await watched.prometheus().fired()
        const pages = [...new Set(fired.filter(({ severity }) => severity === 'page').map((one) => one.name))]
        return [
          ...expected.filter((alert) => !pages.includes(alert)).map((alert) => `${alert} did not fire`),
          ...fired
            .filter((alert) => alert.severity === 'page' && !expected.includes(alert.name))
            .map((alert) => `fired too: ${told(alert)}`),
        ]
      },
    }
  }
}

async function openChaos({ folder, report, seed }: Parameters<Scenario>[0]): Promise<{
  readonly scenario: Chaos
  prometheus(): Prometheus
}> {
  needPrometheus()
  const options = { dataDir: folder, port: await freePort() }
  let postgres = await startPostgres(options)
  const redisPort = await freePort()
  let redis = await startRedis(folder, redisPort)
  const databaseUrl = postgres.url('postgres')
  await migrateToLatest(databaseUrl)
  const ways = {
    chain: await startTcpProxy(nowhere),
    bank: await startTcpProxy(nowhere),
    rates: await startTcpProxy(nowhere),
    prices: await startTcpProxy(nowhere),
  }
  let prometheus: Prometheus | undefined

  const seconds = (draw: Draw, most: number) => sleep(most * draw.next())
  const kill: Disturbance = {
    name: 'processes killed',
    async act({ stage }, draw) {
      for (let left = draw.whole(1, mostKills); left > 0; left--) stage.killOne(draw.next())
    },
  }
  const restartAll: Disturbance = {
    name: 'every process restarted, one after the other',
    async act({ stage }) {
      for (const { metrics, process } of stage.processes) {
        process.terminate()
        const answers = (want: boolean) => async () => (await isUp(metrics)) === want
        await waitUntil(answers(false), restartMs)
        await waitUntil(answers(true), restartMs)
      }
    },
  }
  const crash: Disturbance = {
    name: 'PostgreSQL killed',
    async act(_, draw) {
      await postgres.kill()
      await seconds(draw, downMs)
      postgres = await startPostgres(options)
    },
  }
  const redisAway: Disturbance = {
    name: 'Redis stopped, with all that it knows',
    async act(_, draw) {
      await redis.stop()
      await seconds(draw, faultyMs)
      redis = await startRedis(folder, redisPort)
    },
  }
  const redisEmpty: Disturbance = { name: 'Redis emptied', act: () => flush(redisPort) }
  const hung = (name: string, way: TcpProxy): Disturbance => ({
    name: `${name} gives no answer`,
    async act(_, draw) {
      way.hold(true)
      await seconds(draw, faultyMs)
      way.hold(false)
    },
  })
  const refused = (name: string, way: TcpProxy): Disturbance => ({
    name: `${name} breaks connections`,
    async act(_, draw) {
      way.refuse(true)
      way.cut()
      await seconds(draw, faultyMs)
      way.refuse(false)
    },
  })
  const bankErrors: Disturbance = {
    name: 'the bank answers errors, and late',
    async act({ stage: { sandbox } }, draw) {
      const { faults } = sandbox.fiatpay
      faults.setMode({ charges: draw.kind({ down: 1, timeout: 1, garbage: 1 }) })
      const transfers = { auto: 1, '500': 1, timeout: 1, 'accept-then-timeout': 1, 'accept-then-reset': 1 }
      const lookups = { ok: 1, timeout: 1, '500': 1, garbage: 1, 'not-found': 1 }
      faults.setFault({ ...bankFaults(seed), transfers, lookups })
      await seconds(draw, faultyMs)
      faults.setMode({ charges: 'ok' })
      faults.setFault(bankFaults(seed))
    },
  }
  const lagging: Disturbance = {
    name: 'the chain confirms nothing, and answers late',
    async act({ stage: { sandbox } }, draw) {
      sandbox.chain.freezeConfirmations(true)
      sandbox.faults.set({ delayMs: draw.whole(100, 1500) })
      await seconds(draw, faultyMs)
      sandbox.faults.clear()
      sandbox.chain.freezeConfirmations(false)
    },
  }
  const chainErrors: Disturbance = {
    name: 'RPC nodes answer 429 or a page',
    async act({ stage: { sandbox } }, draw) {
      sandbox.faults.set({ answer: draw.kind({ '429': 1, html: 1 }) })
      await seconds(draw, faultyMs)
      sandbox.faults.clear()
    },
  }
  const mailErrors: Disturbance = {
    name: 'the mail server is busy',
    async act({ stage: { sandbox } }, draw) {
      sandbox.mail.faults.set({ code: 451 })
      await seconds(draw, faultyMs)
      sandbox.mail.faults.clear()
    },
  }
  async function begin({ stage }: Run): Promise<void> {
    prometheus = await startPrometheus(folder, stage.processes)
    report(`Prometheus reads ${stage.processes.length} processes`)
  }
  return {
    prometheus() {
      if (prometheus === undefined) throw new Error('Prometheus was not started')
      return prometheus
    },
    scenario: {
      servers: { databaseUrl, redisUrl: redis.url },
      env(sandbox) {
        for (const way of Object.values(ways)) way.moveTo(sandbox.url)
        const origin = (way: TcpProxy) => way.url.replace(/\/$/, '')
        return {
          // The first one has the WebSocket on its next port.
          SOLANA_RPC_URLS: `${sandbox.url},${origin(ways.chain)}`,
          FIATPAY_URL: `${origin(ways.bank)}/fiatpay`,
          RATE_URL: `${origin(ways.rates)}/rates/USD`,
          PRICE_URL: `${origin(ways.prices)}/price/v3`,
        }
      },
      metrics: true,
      begin,
      disturbances: [
        kill,
        kill,
        restartAll,
        crash,
        redisAway,
        redisEmpty,
        hung('one RPC node', ways.chain),
        refused('one RPC node', ways.chain),
        lagging,
        chainErrors,
        hung('the bank', ways.bank),
        refused('the bank', ways.bank),
        bankErrors,
        hung('the rate feed', ways.rates),
        refused('the rate feed', ways.rates),
        refused('the price feed', ways.prices),
        mailErrors,
      ],
      mayAnswer,
      async close() {
        await prometheus?.stop()
        for (const way of Object.values(ways)) await way.close()
        await redis.stop()
        await postgres.stop()
      },
    },
  }
}

function told({ name, severity, labels }: Fired): string {
  return `${name} (${severity}${labels === '' ? '' : `, ${labels}`})`
}

function isUp(address: string): Promise<boolean> {
  return fetch(`http://${address}/health`, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function flush(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1', () => socket.write('FLUSHALL\r\n'))
  await once(socket, 'data')
  socket.destroy()
}
