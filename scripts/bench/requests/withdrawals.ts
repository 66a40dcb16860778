import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Knex } from 'knex'
import { createDb } from '../../../src/platform/database/database.js'
import { printProgress } from '../../bootstrap/progress.mjs'
import { freePort } from '../../dev/ports.js'
import { waitUntil } from '../../dev/wait-until.js'
import { type Creator, createFundedCreator } from '../../faults/client.js'
import { Service } from '../../faults/rolling/service.js'
import { stopWithStdin } from '../../faults/settings.js'
import { type FiatSandbox, startFiatSandbox } from '../../sandbox/fiat-sandbox.js'
import { alternateOrder, cpuOfServer, median } from '../measurement.js'
import type { BenchOptions, Outcome } from '../outcome.js'
import { post } from '../post.js'
import { type Servers, serviceSettings, startServers } from '../servers.js'
import { countStatements, startService, statementsOf } from './compare.js'
import { startKoaFloor } from './floor.js'
import { type Asked, type Name, names, outcomeOf, type Round } from './withdrawals-table.js'

const creatorCount = 16
const secondsEach = 4
const fundedMicro = 1_000_000_000_000n
const amountUSDC = 2
const sendWaitMs = 120_000
/** As many payouts as a worker has under way. */
const floorConcurrency = 8
const floorPayouts = 300

/** Everything that a round uses. */
interface Stage {
  readonly servers: Servers
  readonly db: Knex
  readonly fiat: FiatSandbox
  readonly web: { readonly url: string; readonly metricsUrl: string }
  readonly worker: Service
  readonly floorUrl: string
  readonly creators: readonly Creator[]
}

/**
 * Withdrawals to new accounts: asked for and confirmed with the mailed code, which the benchmark reads from the queue of e-mails; then the
 * worker sends them. The provider is the stand-in, in the process of the load.
 */
export async function benchWithdrawals({ rounds = 3 }: BenchOptions): Promise<Outcome> {
  const servers = await startServers('.data/bench', countStatements)
  const fiat = await startFiatSandbox()
  fiat.rates.set({ NGN: 1600 })
  const db = createDb(servers.databaseUrl, 8)
  const settings = {
    ...fiat.env,
    WITHDRAW_WAIT_MS: '0',
    IDENTITY_SINGLE_NGN: '1000000000',
    IDENTITY_DAILY_NGN: '1000000000',
  }
  const port = await freePort()
  const worker = new Service({
    name: 'payouts',
    args: ['dist/workers/main.js', 'payouts'],
    env: { ...serviceSettings(servers), ...settings, WORKER_PORT: String(port), NODE_OPTIONS: stopWithStdin },
    url: `http://127.0.0.1:${port}`,
    logFile: join(mkdtempSync(join(tmpdir(), 'bench-withdrawals-')), 'payouts.log'),
  })
  try {
    await servers.sql('create extension pg_stat_statements')
    await servers.sql('create table peer_payouts (id serial primary key, code text)')
    const web = await startService(servers, settings)
    const { url: floorUrl } = await startKoaFloor(servers)
    const creators: Creator[] = []
    for (let n = 0; n < creatorCount; n++) creators.push(await createFundedCreator(db, web.url, fundedMicro))
    const stage = { servers, db, fiat, web, worker, floorUrl, creators }
    // After the first accepted withdrawal a new account must be confirmed.
    for (const creator of creators) await ask(stage, creator)
    await sendAll(stage)
    const results: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      printProgress(`round ${round} of ${rounds}`)
      results.push(await runRound(stage, round))
    }
    return outcomeOf(
      results,
      `${creatorCount} creators, one withdrawal at a time each; medians of ${results.length} rounds of ${secondsEach} s`,
    )
  } finally {
    worker.kill()
    await db.destroy()
    await servers.close()
    await fiat.close()
  }
}

async function runRound(stage: Stage, round: number): Promise<Round> {
  const asked: Partial<Record<Name, Asked>> = {}
  const works: Record<Name, (creator: Creator) => Promise<void>> = {
    service: (creator) => askAndConfirm(stage, creator),
    floor: () => insertTwice(stage),
  }
  for (const name of alternateOrder(names, round))
    asked[name] = await load(stage, name === 'service' ? stage.web.metricsUrl : stage.floorUrl, works[name])
  const floor = await sendFloor(stage)
  const service = await sendAll(stage)
  return {
    asked: asked as Record<Name, Asked>,
    sent: { service: service.perSecond, floor },
    workerUs: service.workerUs,
    sendDatabaseUs: service.databaseUs,
    sendStatements: service.statements,
  }
}

/** Every creator works for some seconds, one withdrawal at a time. */
async function load(
  { servers, creators }: Stage,
  metricsUrl: string,
  work: (creator: Creator) => Promise<void>,
): Promise<Asked> {
  const read = () =>
    Promise.all([cpuOfServer(metricsUrl), servers.databaseCpu(), statementsOf(servers.databaseUrl)])
  const before = await read()
  const times: number[] = []
  const startedAt = performance.now()
  const repeat = async (creator: Creator): Promise<void> => {
    while (performance.now() < startedAt + secondsEach * 1000) {
      const from = performance.now()
      await work(creator)
      times.push(performance.now() - from)
    }
  }
  await Promise.all(creators.map(repeat))
  const seconds = (performance.now() - startedAt) / 1000
  const after = await read()
  return {
    perSecond: times.length / seconds,
    p50Ms: median(times),
    serverUs: ((after[0] - before[0]) * 1e6) / times.length,
    databaseUs: ((after[1] - before[1]) * 1e6) / times.length,
    statements: (after[2] - before[2]) / times.length,
  }
}

/** Requests a withdrawal to a bank account that was never used. Returns its reference. */
async function ask({ web }: Stage, { cookie, userId }: Creator): Promise<string> {
  const accountNumber = String(randomInt(1e9, 9.9e9))
  const accountName = `Ada ${userId.slice(0, 8).replace(/\d/g, 'x')}`
  const account = { bankCode: '058', accountNumber, accountName, amountUSDC }
  return String((await post(`${web.url}/payouts/withdraw`, account, cookie))['reference'])
}

async function askAndConfirm(stage: Stage, creator: Creator): Promise<void> {
  const reference = await ask(stage, creator)
  const { rows } = await stage.db.raw<{ rows: { text: string }[] }>(
    `/* bench */ select body_text as text from emails
     where recipient = (select email from users where id = ?) and kind = 'withdrawal-code' order by created_at desc limit 1`,
    [creator.userId],
  )
  const code = /^ {4}(\S+)$/m.exec(rows[0]?.text ?? '')?.[1]
  await post(`${stage.web.url}/payouts/${reference}/confirm`, { code }, creator.cookie)
  // An account has ten codes a day.
  await stage.db.raw(
    `/* bench */ delete from one_time_secrets where user_id = ? and purpose = 'withdrawal'`,
    [creator.userId],
  )
}

async function insertTwice({ floorUrl, creators }: Stage): Promise<void> {
  for (let n = 0; n < 2; n++)
    await post(`${floorUrl}/chain/tips/create`, {
      creatorWallet: creators[0]?.userId,
      tipAmount: 1,
      senderWallet: 'bench',
      txSignature: `${performance.now()}-${randomInt(1e9)}`,
    })
}

/** Lets the worker send all that is due. */
async function sendAll({ servers, db, worker }: Stage) {
  const open = async (): Promise<number> => {
    const { rows } = await db.raw(
      `/* bench */ select count(*)::int as n from withdrawals where status = 'pending'`,
    )
    return rows[0].n
  }
  const payouts = await open()
  const before = await Promise.all([servers.databaseCpu(), statementsOf(servers.databaseUrl)])
  await worker.start(process.cwd())
  const idle = await cpuOfServer(worker.url)
  if (!(await waitUntil(async () => (await open()) === 0, sendWaitMs)))
    throw new Error(`${await open()} withdrawals were not sent`)
  const after = await Promise.all([servers.databaseCpu(), statementsOf(servers.databaseUrl)])
  const cpu = (await cpuOfServer(worker.url)) - idle
  await worker.stop()
  const { rows } = await db.raw(
    `/* bench */ select extract(epoch from max(sent_at) - min(sent_at))::float8 as seconds
     from (select sent_at from withdrawals where sent_at is not null order by sent_at desc limit ${payouts}) s`,
  )
  return {
    perSecond: payouts / rows[0].seconds,
    workerUs: (cpu * 1e6) / payouts,
    databaseUs: ((after[0] - before[0]) * 1e6) / payouts,
    statements: (after[1] - before[1]) / payouts,
  }
}

/** The simplest sending: a recipient, a transfer and one update for each, some at a time. Returns how many a second. */
async function sendFloor({ db, fiat }: Stage): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${fiat.fiatpay.secretKey}` }
  const call = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${fiat.url}/fiatpay${path}`, options)
    return ((await response.json()) as { data: Record<string, string> }).data
  }
  await db.raw(
    `/* bench */ insert into peer_payouts select nextval('peer_payouts_id_seq') from generate_series(1, ${floorPayouts})`,
  )
  const { rows } = await db.raw('/* bench */ select id from peer_payouts where code is null')
  const queue: number[] = rows.map(({ id }: { id: number }) => id)
  const startedAt = performance.now()
  const sendAll = async (): Promise<void> => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const account = { account_number: String(randomInt(1e9, 9.9e9)), bank_code: '058', name: 'Ada Obi' }
      const { recipient_code } = await call('/transferrecipient', {
        type: 'nuban',
        currency: 'NGN',
        ...account,
      })
      const transfer = { source: 'balance', amount: 300_000, recipient: recipient_code }
      const sent = await call('/transfer', { ...transfer, reference: `bench-floor-${randomInt(1e9)}-${id}` })
      await db.raw('/* bench */ update peer_payouts set code = ? where id = ?', [
        sent['transfer_code'] ?? '',
        id,
      ])
    }
  }
  await Promise.all(Array.from({ length: floorConcurrency }, sendAll))
  return (floorPayouts / (performance.now() - startedAt)) * 1000
}
