import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Knex } from 'knex'
import { createDb } from '../../src/platform/database/database.js'
import { workersProgram } from '../dev/built.js'
import { freePort } from '../dev/ports.js'
import { waitUntil } from '../dev/wait-until.js'
import { type Creator, codeIn, createFundedCreator, postJson } from '../kit/client.js'
import { mailText, type QueuedEmail } from '../kit/mail-text.js'
import { ServiceProcess } from '../kit/service-process.js'
import { serviceSettings } from '../kit/service-settings.js'
import { startFiatSandbox } from '../sandbox/fiat-sandbox.js'
import { type BenchOptions, type Column, measureRounds, median, outcomeOf, section } from './measurement.js'
import {
  type BenchServers,
  countStatements,
  cpuOfServer,
  onServers,
  type Served,
  type Use,
  useOf,
} from './servers.js'

const creatorCount = 16
const secondsEach = 4
const fundedMicro = 1_000_000_000_000n
const amountUSDC = 2
const sendWaitMs = 120_000

/** Everything that a round uses. */
interface Stage {
  readonly servers: BenchServers
  readonly db: Knex
  readonly web: Served
  readonly worker: ServiceProcess
  readonly creators: readonly Creator[]
}

interface Measured extends Use {
  readonly perSecond: number
  readonly p50Ms: number
}

const columns: Column<'service', Measured>[] = [
  { head: 'per s', digits: 0, of: ({ perSecond }) => perSecond, better: 'higher' },
  { head: 'p50 ms', digits: 1, of: ({ p50Ms }) => p50Ms },
  { head: 'us server', digits: 0, of: ({ serverUs }) => serverUs },
  { head: 'us db', digits: 0, of: ({ databaseUs }) => databaseUs },
  { head: 'us both', digits: 0, of: (own) => own.serverUs + own.databaseUs, better: 'lower' },
  { head: 'statements', digits: 1, of: ({ statements }) => statements, better: 'lower' },
]

/**
 * Withdrawals to new accounts: asked for and confirmed with the mailed code, which the benchmark reads from the queue of e-mails; then the
 * worker sends them. The provider is the stand-in, in the process of the load.
 */
export function benchWithdrawals({ rounds = 3 }: BenchOptions) {
  return onServers(async (servers) => {
    const stage = await openStage(servers)
    // After the first accepted withdrawal a new account must be confirmed.
    for (const creator of stage.creators) await ask(stage, creator)
    await sendAll(stage)
    const sent: { service: Measured }[] = []
    const asked = await measureRounds(['service'] as const, rounds, async () => {
      const measured = await load(stage)
      sent.push({ service: await sendAll(stage) })
      return measured
    })
    return outcomeOf(
      { asked, sent },
      [
        section('ask and confirm', asked, columns, { 'ask and confirm': 'service' }),
        section('send', sent, columns, { send: 'service' }),
      ],
      `${secondsEach} s`,
      `${creatorCount} creators, one withdrawal at a time each`,
    )
  }, countStatements)
}

async function openStage(servers: BenchServers): Promise<Stage> {
  const { defer } = servers
  const fiat = await startFiatSandbox()
  defer(() => fiat.close())
  fiat.rates.set({ NGN: 1600 })
  const db = createDb(servers.databaseUrl, 8)
  defer(() => db.destroy())
  const settings = { ...fiat.env, WITHDRAW_WAIT_MS: '0' }
  const port = await freePort()
  const worker = new ServiceProcess({
    name: 'payouts',
    args: [workersProgram, 'payouts'],
    env: { ...serviceSettings(servers), ...settings, WORKER_PORT: String(port) },
    url: `http://127.0.0.1:${port}`,
    logFile: join(mkdtempSync(join(tmpdir(), 'bench-withdrawals-')), 'payouts.log'),
  })
  defer(() => worker.end())
  const web = await servers.serveWeb(settings)
  const creators: Creator[] = []
  for (let n = 0; n < creatorCount; n++) creators.push(await createFundedCreator(db, web.url, fundedMicro))
  return { servers, db, web, worker, creators }
}

/** Every creator works for some seconds, one withdrawal at a time. */
async function load(stage: Stage): Promise<Measured> {
  const { servers, creators, web } = stage
  const before = await servers.used(web.metricsUrl)
  const times: number[] = []
  const startedAt = performance.now()
  const repeat = async (creator: Creator): Promise<void> => {
    while (performance.now() < startedAt + secondsEach * 1000) {
      const from = performance.now()
      await askAndConfirm(stage, creator)
      times.push(performance.now() - from)
    }
  }
  await Promise.all(creators.map(repeat))
  const seconds = (performance.now() - startedAt) / 1000
  return {
    perSecond: times.length / seconds,
    p50Ms: median(times),
    ...useOf(times.length, before, await servers.used(web.metricsUrl)),
  }
}

/** Requests a withdrawal to a bank account that was never used. Returns its reference. */
async function ask({ web }: Stage, { cookie, userId }: Creator): Promise<string> {
  const accountNumber = String(randomInt(1e9, 9.9e9))
  const accountName = `Ada ${userId.slice(0, 8).replace(/\d/g, 'x')}`
  const account = { bankCode: '058', accountNumber, accountName, amountUSDC }
  return String((await postJson(`${web.url}/payouts/withdraw`, account, cookie))['reference'])
}

async function askAndConfirm(stage: Stage, creator: Creator): Promise<void> {
  const reference = await ask(stage, creator)
  const { rows } = await stage.db.raw<{ rows: QueuedEmail[] }>(
    `/* bench */ select subject, body from emails
     where recipient = (select email from users where id = ?) and kind = 'withdrawal-code' order by created_at desc limit 1`,
    [creator.userId],
  )
  const code = codeIn(mailText(rows[0]))
  await postJson(`${stage.web.url}/payouts/${reference}/confirm`, { code }, creator.cookie)
  // An account has ten codes a day.
  await stage.db.raw(
    `/* bench */ delete from one_time_secrets where user_id = ? and purpose = 'withdrawal'`,
    [creator.userId],
  )
}

/** Lets the worker send all that is due. */
async function sendAll({ servers, db, web, worker }: Stage): Promise<Measured> {
  const open = async (): Promise<number> =>
    (await db.raw(`/* bench */ select count(*)::int as n from withdrawals where status = 'pending'`)).rows[0]
      .n
  const payouts = await open()
  const [, database, statements] = await servers.used(web.metricsUrl)
  await worker.start()
  // Without the start.
  const before = [await cpuOfServer(worker.url), database, statements] as const
  if (!(await waitUntil(async () => (await open()) === 0, sendWaitMs)))
    throw new Error(`${await open()} withdrawals were not sent`)
  const use = useOf(payouts, before, await servers.used(worker.url))
  await worker.stop()
  const { rows } = await db.raw(
    `/* bench */ select extract(epoch from max(sent_at) - min(sent_at))::float8 as seconds
     from (select sent_at from withdrawals where sent_at is not null order by sent_at desc limit ${payouts}) s`,
  )
  return { perSecond: payouts / rows[0].seconds, p50Ms: Number.NaN, ...use }
}
