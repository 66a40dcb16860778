import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { createDb } from '../../src/platform/database/database.js'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { printProgress } from '../bootstrap/progress.mjs'
import { webProgram } from '../dev/built.js'
import { withConnection } from '../dev/postgres/session.js'
import { postJson, register } from '../kit/client.js'
import { serviceSettings } from '../kit/service-settings.js'
import { type BusyCreator, fillLists, historyDays } from './fill-lists.js'
import { alternateOrder, median, type Outcome } from './measurement.js'
import { type BenchServers, onServers } from './servers.js'

const fewRows = 1_000_000
const manyRows = 10_000_000
const warmUps = 8
const rounds = 15
const requestsEach = 9
const highestRatio = 1.25
/** A page above it is measured again: a busy machine can slow one measurement, but not all. */
const attempts = 3
/** An index on a hundred times the rows is one level deeper: a page that walks several reads a few buffers more. */
const deeperBuffers = 10
/** No durability: nobody needs a filled database after a crash. Statements are counted by PostgreSQL itself. */
const flags = [
  'fsync=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=8GB',
  'autovacuum=off',
  'shared_preload_libraries=pg_stat_statements',
].flatMap((setting) => ['-c', setting])

const sizes = ['few', 'many'] as const
type Size = (typeof sizes)[number]

/** A filled database, a web process on it, and the creator. */
interface Stack extends BusyCreator {
  readonly name: string
  readonly rows: number
  readonly url: string
  readonly headers: Record<string, string>
  readonly db: Knex
}
interface Measured {
  readonly p50Ms: number
  readonly buffers: number
}
interface Result {
  readonly page: string
  readonly few: Measured
  readonly many: Measured
  /** Of the greater size to the smaller; of the times that of the best rounds, because other work of the machine only adds. */
  readonly timeRatio: number
  readonly buffersRatio: number
}

/**
 * `npm run bench -- lists [--rows <n>]`: every page of a creator who receives a third of all tips, at 1 million and at 10
 * million tips, through a web process each. Requests alternate between the two, so that other work of the machine is fair to
 * both. Fails when a page takes more than 1.25 times as long, or reads more than 1.25 times the buffers.
 */
export function benchLists({ rows = manyRows }: { rows?: number | undefined }): Promise<Outcome> {
  return onServers(
    async (servers) => {
      const stacks = {
        few: await openStack(servers, 'few', fewRows),
        many: await openStack(servers, 'many', rows),
      }
      const results: Result[] = []
      const reads: [string, Read][] = Object.entries(pagesOf()).map(([page, path]) => [
        page,
        (stack) => request(stack, path(stack)),
      ])
      for (const [page, read] of [...reads, checkOfNewest]) {
        let result = await measure(servers, page, read, stacks)
        for (let again = 1; again < attempts && isSlow(result); again++)
          result = await measure(servers, page, read, stacks)
        results.push(result)
        printProgress(lineOf(result).trimEnd())
      }
      const slow = results.filter(isSlow)
      const fault =
        slow.length > 0 ? `above ${highestRatio}: ${slow.map(({ page }) => page).join('; ')}` : undefined
      const ratios = results.map(({ timeRatio }) => timeRatio.toFixed(2)).sort()
      return {
        table: tableOf(results, rows),
        results,
        rows: [
          ['pages', results.length],
          ['time with many tips of that with few', `${ratios[0]} to ${ratios.at(-1)}`],
        ],
        fault,
      }
    },
    flags,
    '.data/bench-lists',
  )
}

function isSlow({ few, many, timeRatio, buffersRatio }: Result): boolean {
  const deeper = many.buffers - few.buffers <= deeperBuffers
  return timeRatio > highestRatio || (buffersRatio > highestRatio && !deeper)
}

/** What is measured. Returns its milliseconds. */
type Read = (stack: Stack) => Promise<number>

const checkedTransfers = 4000
/** What `check-books --since` does of an open month, whose transfers are as many at every size. */
const checkOfNewest: [string, Read] = [
  `check-books of the newest ${checkedTransfers} transfers`,
  async ({ db, rows }) => {
    const startedAt = performance.now()
    await checkBooks(db, BigInt(Math.ceil(rows / 10) - checkedTransfers))
    return performance.now() - startedAt
  },
]

/** Pages by name. Where a page begins in the middle, the cursor is made of the middle's time or entry. */
function pagesOf(): Record<string, (stack: Stack) => string> {
  const day = (back: number): string => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10)
  const middle = `cursor=${cursor(`${Date.now() - (historyDays / 2) * 86_400_000}.0`)}`
  const tips = [
    '',
    'limit=100',
    middle,
    'format=csv',
    'token=SOL',
    'token=JitoSOL',
    `token=USDC&${middle}`,
    'token=FIAT',
    'token=FIAT&status=failed',
    'status=confirmed',
    `status=confirmed&${middle}`,
    'status=pending',
    `from=${day(40)}&to=${day(30)}`,
    `token=USDC&from=${day(40)}&to=${day(30)}`,
    'q=show',
    'q=no such words',
    'token=SOL&q=no such words',
    'status=confirmed&q=no such words',
  ]
  const named = (query: string): string => `/creators/tips ${query.replace(/cursor=.*/, 'from the middle')}`
  return {
    ...Object.fromEntries(tips.map((query) => [named(query), () => `/creators/tips?${query}`])),
    '/creators/tips/daily days=30': () => '/creators/tips/daily?days=30',
    '/creators/tips/daily days=90': () => '/creators/tips/daily?days=90',
    '/creators/transactions': () => '/creators/transactions',
    '/creators/transactions from the middle': ({ rows }) =>
      `/creators/transactions?cursor=${cursor(String(Math.round(rows / 10)))}`,
    '/creators/balance': () => '/creators/balance',
    '/payouts/history': () => '/payouts/history',
    '/payouts/history status=failed': () => '/payouts/history?status=failed',
    '/chain/tips': ({ wallet }) => `/chain/tips?address=${wallet}`,
    '/sdk/events': ({ userId }) => `/sdk/events?creatorId=${userId}`,
  }
}

function cursor(position: string): string {
  return Buffer.from(position).toString('base64url')
}

/** Makes a database, registers the creator through the API, and fills the tables. */
async function openStack(servers: BenchServers, name: Size, rows: number): Promise<Stack> {
  await servers.sql(`drop database if exists ${name} with (force)`)
  await servers.sql(`create database ${name}`)
  // Gigabytes that nobody needs.
  servers.defer(() => servers.sql(`drop database if exists ${name} with (force)`))
  const databaseUrl = servers.url(name)
  await migrateToLatest(databaseUrl)
  const settings = serviceSettings({ ...servers, databaseUrl })
  const url = await servers.serve(name, [webProgram], settings)
  const { userId, cookie } = await register(url, 'busy@bench.example')
  const { apiKey } = await postJson(`${url}/creators/api-keys`, {}, cookie)
  const { dataKeys } = loadConfig(settings)
  const creator = { userId, wallet: encodeBase58(randomBytes(32)), dataKeys }
  await withConnection(databaseUrl, (client) =>
    fillLists(client, creator, rows, (progress) => printProgress(`${name}: ${progress}`)),
  )
  const db = createDb(databaseUrl, 1)
  servers.defer(() => db.destroy())
  return { ...creator, name, rows, url, db, headers: { cookie, authorization: `Bearer ${apiKey}` } }
}

async function measure(
  servers: BenchServers,
  page: string,
  read: Read,
  stacks: Record<Size, Stack>,
): Promise<Result> {
  const times: Record<Size, number[][]> = { few: [], many: [] }
  const buffers: Record<Size, number> = { few: 0, many: 0 }
  for (const size of sizes) for (let n = 0; n < warmUps; n++) await read(stacks[size])
  for (let round = 1; round <= rounds; round++)
    for (const size of alternateOrder(sizes, round)) {
      const before = await buffersRead(servers, size)
      const ofRound: number[] = []
      for (let n = 0; n < requestsEach; n++) ofRound.push(await read(stacks[size]))
      times[size].push(ofRound)
      buffers[size] += (await buffersRead(servers, size)) - before
    }
  const of = (size: Size): Measured => ({
    p50Ms: median(times[size].flat()),
    buffers: buffers[size] / (rounds * requestsEach),
  })
  const best = (size: Size): number => Math.min(...times[size].map(median))
  const [few, many] = [of('few'), of('many')]
  return {
    page,
    few,
    many,
    timeRatio: best('many') / best('few'),
    buffersRatio: many.buffers / few.buffers,
  }
}

/** Sends one request and returns its milliseconds. */
async function request({ url, headers }: Stack, path: string): Promise<number> {
  const startedAt = performance.now()
  const answer = await fetch(`${url}${path}`, { headers })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${text}`)
  return performance.now() - startedAt
}

/** The buffers that statements in this database have read so far, from the cache or the disk. */
async function buffersRead({ databaseUrl }: BenchServers, database: Size): Promise<number> {
  return withConnection(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `select coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 as buffers
       from pg_stat_statements s join pg_database d on d.oid = s.dbid where datname = $1`,
      [database],
    )
    return rows[0].buffers
  })
}

const line = ([page = '', ...cells]: readonly string[]): string =>
  page.padEnd(50) + cells.map((cell) => cell.padStart(10)).join('')

function lineOf({ page, few, many, timeRatio, buffersRatio }: Result): string {
  const times = [few.p50Ms, many.p50Ms, timeRatio].map((value) => value.toFixed(2))
  return line([page, ...times, few.buffers.toFixed(0), many.buffers.toFixed(0), buffersRatio.toFixed(2)])
}

function tableOf(results: readonly Result[], rows: number): string {
  const tips = [String(fewRows), String(rows), '']
  return [
    line(['page', 'p50 ms', 'p50 ms', 'ratio', 'buffers', 'buffers', 'ratio']),
    line(['tips', ...tips, ...tips]),
    ...results.map(lineOf),
    `goal: each ratio at most ${highestRatio}, or ${deeperBuffers} buffers more; p50 of ${rounds * requestsEach} requests; a ratio of times is that of the best rounds`,
  ].join('\n')
}
