import { setTimeout as sleep } from 'node:timers/promises'
import { type Keypair, VersionedTransaction } from '@solana/web3.js'
import { Redis } from 'ioredis'
import { solMint } from '../../src/kernel/tokens.js'
import { printProgress } from '../bootstrap/progress.mjs'
import { waitUntil } from '../dev/wait-until.js'
import { openStage, type Stage } from '../faults/world/stage.js'
import { type Creator, createFundedCreator, postJson } from '../kit/client.js'
import type { Sandbox } from '../sandbox/server.js'
import { type BenchOptions, measureRounds, median, type Outcome, type Round } from './measurement.js'
import { type BenchServers, cpuOfDatabase, cpuOfServer, onServers } from './servers.js'

const countEach = 400
const warmUps = 80
const idleSeconds = 10
/** Until pools have closed what they needed before. */
const settleSeconds = 60
const endMs = 180_000
const askMs = 500
/** As docs/deploy.md has it. */
const deployedSettings = ['-c', 'wal_compression=on']
const creatorCount = 80
const lamportsPerSol = 1e9
const atOnce = 8
const fundedMicro = 1_000_000_000_000n

/** The worker processes that are measured separately. */
const workers = [
  { names: ['verifier', 'finder'] },
  { names: ['settlement', 'provisioner'] },
  { names: ['payouts', 'reconciler'] },
  { names: ['mailer'] },
] as const
/** What the stage sets to see more faults, as it is by default: one endpoint, and a payout is looked at after three seconds. */
const usualSettings = ({ url }: Sandbox) => ({ SOLANA_RPC_URLS: url, PAYOUT_SECONDS: '15,3,900' })
/** The processes in their order, and the servers. */
const kinds = ['web', 'tips', 'naira', 'payouts', 'mailer', 'PostgreSQL', 'Redis'] as const

/** What was used so far: CPU seconds of each kind, bytes of data and of the write-ahead log, calls to the node. */
interface Used {
  readonly cpu: readonly number[]
  readonly dataBytes: number
  readonly walBytes: number
  readonly rpcCalls: number
}

/** A creator with the wallet that tips go to. */
interface TippedCreator extends Creator {
  readonly wallet: string
}

interface Operation {
  /** Does one. `serial` is its number. */
  one(stage: Stage, creator: TippedCreator, serial: number): Promise<void>
  /** How many have not ended. */
  readonly openSql: string
}

/** Each tip has another amount: who pays the same wallet the same amount often has older intents that match. */
let newestAmount = 50_000_000

/** Each from the first request to its end: a tip finalized, a naira tip credited, a withdrawal paid. */
const operations: Record<string, Operation> = {
  'tip in crypto': {
    async one({ url, sandbox, supporters }, { userId, wallet }, serial) {
      const supporter = supporters[serial % supporters.length] as Keypair
      const senderWallet = supporter.publicKey.toBase58()
      newestAmount += 1
      const tipAmount = newestAmount
      const { intentId, transaction } = await postJson(`${url}/payments/intent`, {
        creatorId: userId,
        amount: tipAmount / lamportsPerSol,
        inputTokenMint: solMint,
        sourceWalletAddress: senderWallet,
      })
      const signed = VersionedTransaction.deserialize(Buffer.from(String(transaction), 'base64'))
      signed.sign([supporter])
      await postJson(`${url}/chain/tips/create`, {
        creatorWallet: wallet,
        senderWallet,
        tipAmount,
        txSignature: sandbox.chain.submit(signed.serialize(), { skipPreflight: true }),
        intentId,
        message: 'Thank you for the show',
      })
    },
    openSql: `select count(*)::int as n from tips where kind = 'chain' and finalized_at is null`,
  },
  'tip in naira': {
    async one({ url, sandbox }, { userId }) {
      const tip = { creatorId: userId, amount: 10, senderName: 'Bola', memo: 'Thank you for the show' }
      const { intentId } = await postJson(`${url}/payments/fiat/intent`, tip)
      await postJson(`${sandbox.url}/dev/fiatpay/charges/${intentId}`, { outcome: 'paid' })
    },
    openSql: `select count(*)::int as n from tips where kind = 'fiat' and status = 'pending'`,
  },
  withdrawal: {
    async one({ url }, { cookie, userId }) {
      const accountName = `Ada ${userId.slice(0, 8).replace(/\d/g, 'x')}`
      const account = { bankCode: '058', accountNumber: '0123456789', accountName, amountUSDC: 2 }
      await postJson(`${url}/payouts/withdraw`, account, cookie)
    },
    openSql: `select ((select count(*) from withdrawals where status not in ('completed', 'failed'))
      + (select count(*) from emails where due_at is not null))::int as n`,
  },
}

/** For one operation, with CPU in ms. */
interface Cost extends Used {
  readonly seconds: number
}

/**
 * What one tip, one naira tip and one withdrawal cost from beginning to end (a withdrawal with its mails), all processes running: the
 * figures of docs/sizing.md. What the idle processes use in the same time is taken off.
 */
export function benchCosts({ rounds = 5 }: BenchOptions): Promise<Outcome> {
  return onServers(async (servers) => {
    const urls = { ...servers, namespace: 'costs' }
    const options = { creators: 0, workers, bank: {}, env: usualSettings }
    const stage = await openStage(servers.defer, urls, 1, options)
    const redis = new Redis(servers.redisUrl)
    servers.defer(() => redis.disconnect())
    const creators = await createTippedCreators(stage)
    const read = () => usedBy(servers, stage, redis)
    const run = async (name: string, times: number, idle: Used): Promise<Cost> => {
      await stage.db.raw('checkpoint')
      const before = await read()
      const startedAt = performance.now()
      const { one, openSql } = operations[name] as Operation
      let serial = 0
      const repeat = async (): Promise<void> => {
        while (serial < times) {
          serial += 1
          await one(stage, creators[serial % creatorCount] as TippedCreator, serial)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, repeat))
      await untilNone(stage, openSql)
      const after = await read()
      const seconds = (performance.now() - startedAt) / 1000
      const { cpu, ...used } = difference(scaled(idle, seconds), difference(before, after))
      return { seconds, ...scaled({ cpu: cpu.map((each) => Math.max(0, each) * 1000), ...used }, 1 / times) }
    }
    // Warms up: each process has done its work before.
    printProgress(`${warmUps} times each`)
    for (const name of Object.keys(operations)) await run(name, warmUps, nothing)
    printProgress(`idle for ${settleSeconds} s, then measured ${rounds} times for ${idleSeconds} s`)
    await sleep(settleSeconds * 1000)
    const idles: Used[] = []
    for (let round = 1; round <= rounds; round++) {
      const before = await read()
      await sleep(idleSeconds * 1000)
      idles.push(scaled(difference(before, await read()), 1 / idleSeconds))
    }
    // Once after load Node collects garbage: in the median that does not count.
    const idle = medianUse(idles)
    const measured = await measureRounds(Object.keys(operations), rounds, (name) =>
      run(name, countEach, idle),
    )
    const idleMs = idle.cpu.map((seconds) => seconds * 1000)
    const costs = mediansOf(measured)
    return {
      table: `${tableOf(costs, idleMs)}\n${medianText(rounds)}`,
      results: { kinds, costs, idleMsPerSecond: idleMs, rounds: measured },
      rows: rowsOf(measured, idleMs),
    }
  }, deployedSettings)
}

async function createTippedCreators(stage: Stage): Promise<TippedCreator[]> {
  const creators: Creator[] = []
  for (let n = 0; n < creatorCount; n++)
    creators.push(await createFundedCreator(stage.db, stage.url, fundedMicro))
  await untilNone(stage, 'select count(*)::int as n from wallets where public_key is null')
  const rows = await stage.db('wallets').select('user_id', 'public_key')
  const wallets = new Map<string, string>(rows.map((row) => [row.user_id, row.public_key]))
  return creators.map((creator) => ({ ...creator, wallet: wallets.get(creator.userId) ?? '' }))
}

function medianText(rounds: number): string {
  return `medians of ${rounds} rounds of ${countEach} each, ${atOnce} at a time, for ${creatorCount} creators in turn; what idle processes use is taken off`
}

function mediansOf(rounds: readonly Round<string, Cost>[]): Record<string, Cost> {
  return Object.fromEntries(
    Object.keys(operations).map((name) => {
      const all = rounds.flatMap((round) => round[name] ?? [])
      return [name, { ...medianUse(all), seconds: median(all.map(({ seconds }) => seconds)) }]
    }),
  )
}

/** The median of each part by itself. */
function medianUse(all: readonly Used[]): Used {
  return {
    cpu: kinds.map((_, n) => median(all.map(({ cpu }) => cpu[n] ?? 0))),
    dataBytes: median(all.map(({ dataBytes }) => dataBytes)),
    walBytes: median(all.map(({ walBytes }) => walBytes)),
    rpcCalls: median(all.map(({ rpcCalls }) => rpcCalls)),
  }
}

const nothing: Used = { cpu: kinds.map(() => 0), dataBytes: 0, walBytes: 0, rpcCalls: 0 }

function difference(before: Used, after: Used): Used {
  return {
    cpu: after.cpu.map((cpu, n) => cpu - (before.cpu[n] ?? 0)),
    dataBytes: after.dataBytes - before.dataBytes,
    walBytes: after.walBytes - before.walBytes,
    rpcCalls: after.rpcCalls - before.rpcCalls,
  }
}

function scaled({ cpu, dataBytes, walBytes, rpcCalls }: Used, by: number): Used {
  return {
    cpu: cpu.map((one) => one * by),
    dataBytes: dataBytes * by,
    walBytes: walBytes * by,
    rpcCalls: rpcCalls * by,
  }
}

async function usedBy({ meter }: BenchServers, { processes, sandbox }: Stage, redis: Redis): Promise<Used> {
  const own = await Promise.all(processes.map(({ metricsUrl }) => cpuOfServer(metricsUrl)))
  const info = await redis.info('cpu')
  const ofRedis = ['used_cpu_sys', 'used_cpu_user'].reduce(
    (sum, name) => sum + Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]),
    0,
  )
  const { rows } = await meter.query(
    `select pg_database_size(current_database())::float8 as data, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal`,
  )
  return {
    cpu: [...own, await cpuOfDatabase(meter), ofRedis],
    dataBytes: rows[0].data,
    walBytes: rows[0].wal,
    rpcCalls: sandbox.calls.httpRequests,
  }
}

async function untilNone({ db }: Stage, sql: string): Promise<void> {
  const none = async (): Promise<boolean> => {
    // To ask costs PostgreSQL something, too.
    await sleep(askMs)
    return (await db.raw(sql)).rows[0].n === 0
  }
  if (!(await waitUntil(none, endMs))) throw new Error(`not within ${endMs / 1000} s: ${sql}`)
}

function rowsOf(rounds: readonly Round<string, Cost>[], idleMs: readonly number[]): [string, number][] {
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
  const rows = Object.keys(operations).flatMap((name): [string, number][] => {
    const all = rounds.flatMap((round) => round[name] ?? [])
    return [
      [`${name}: CPU ms`, median(all.map(({ cpu }) => sum(cpu)))],
      [`${name}: KB of log`, median(all.map(({ walBytes }) => walBytes / 1000))],
    ]
  })
  return [...rows, ['idle: CPU ms a second', sum(idleMs)] as const].map(([row, value]) => [
    row,
    Number(value.toFixed(1)),
  ])
}

function tableOf(costs: Readonly<Record<string, Cost>>, idleMs: readonly number[]): string {
  const line = (name: string, cells: readonly string[]): string =>
    name.padEnd(22) + cells.map((cell) => cell.padStart(12)).join('')
  const fixed = (values: readonly number[], digits: number) => values.map((one) => one.toFixed(digits))
  const all = Object.entries(costs)
  return [
    line('CPU ms for one', kinds),
    ...all.map(([name, { cpu }]) => line(name, fixed(cpu, 2))),
    line('idle, ms a second', fixed(idleMs, 1)),
    line('for one', ['data bytes', 'log bytes', 'RPC calls', 'seconds']),
    ...all.map(([name, { dataBytes, walBytes, rpcCalls, seconds }]) =>
      line(name, [
        dataBytes.toFixed(0),
        walBytes.toFixed(0),
        rpcCalls.toFixed(2),
        `${seconds.toFixed(1)} all`,
      ]),
    ),
  ].join('\n')
}
