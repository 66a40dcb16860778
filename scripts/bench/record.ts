import { printProgress } from '../bootstrap/progress.mjs'
import { freePort } from '../dev/ports.js'
import { type Load, recordTips } from './load.js'
import { alternateOrder, cpuOfServer, median } from './measurement.js'
import type { BenchOptions, Figure, Outcome } from './outcome.js'
import { type Servers, serviceSettings, startServers } from './servers.js'

const defaultRounds = 5
const secondsEach = 4
const connectionCounts = [64, 1] as const
const goals =
  'goals: at 64 connections at least 1.50 of koa and 1.00 of fastify; at 1 connection the p50 at most 1.40 of koa'

const names = ['service', 'koa', 'fastify'] as const
type Name = (typeof names)[number]
/** CPU time of one request in microseconds, of the server and of PostgreSQL. */
interface Measured extends Load {
  readonly serverUs: number
  readonly databaseUs: number
}
type Round = Record<Name, Measured>

/**
 * Compares `POST /chain/tips/create` of the whole service (validation, request ids, metrics, error answers) with a plain Koa
 * and a plain Fastify server with one INSERT each. All use one PostgreSQL and are measured in turn.
 */
export async function benchRecord({ rounds = defaultRounds }: BenchOptions): Promise<Outcome> {
  const servers = await startServers()
  try {
    await servers.sql(
      'create table peer_tips (id text primary key, creator_wallet text not null, sender text not null, amount numeric not null, created_at timestamptz not null default now())',
    )
    const metricsPort = await freePort()
    const service = { ...serviceSettings(servers), METRICS_PORT: String(metricsPort) }
    const urls: Record<Name, string> = {
      service: await servers.serve('service', ['dist/src/web.js'], service),
      koa: await servers.serve('koa', ['dist/scripts/bench/record-peers.js', 'koa'], {}),
      fastify: await servers.serve('fastify', ['dist/scripts/bench/record-peers.js', 'fastify'], {}),
    }
    const metricsUrls = { ...urls, service: `http://127.0.0.1:${metricsPort}` }
    for (const url of Object.values(urls)) await recordTips(url, 16, 2)
    const byConnections = new Map<number, Round[]>()
    for (const connections of connectionCounts)
      byConnections.set(connections, await measure(servers, { urls, metricsUrls }, connections, rounds))
    const results = Object.fromEntries(byConnections)
    return { table: tableOf(byConnections), results, figures: figuresOf(byConnections) }
  } finally {
    await servers.close()
  }
}

interface Addresses {
  readonly urls: Record<Name, string>
  /** The peers serve their metrics where they serve everything. */
  readonly metricsUrls: Record<Name, string>
}

async function measure(
  servers: Servers,
  { urls, metricsUrls }: Addresses,
  connections: number,
  rounds: number,
): Promise<Round[]> {
  const results: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    printProgress(`${connections} connection(s), round ${round} of ${rounds}`)
    const loads: Partial<Round> = {}
    for (const name of alternateOrder(names, round))
      loads[name] = await measureOne(urls[name], connections, () =>
        Promise.all([cpuOfServer(metricsUrls[name]), servers.databaseCpu()]),
      )
    results.push(loads as Round)
  }
  return results
}

async function measureOne(url: string, connections: number, cpu: () => Promise<number[]>): Promise<Measured> {
  const [server = 0, database = 0] = await cpu()
  const load = await recordTips(url, connections, secondsEach)
  const [serverAfter = 0, databaseAfter = 0] = await cpu()
  const perRequest = (seconds: number): number => (seconds * 1e6) / (load.perSecond * secondsEach)
  return {
    ...load,
    serverUs: perRequest(serverAfter - server),
    databaseUs: perRequest(databaseAfter - database),
  }
}

function tableOf(byConnections: ReadonlyMap<number, readonly Round[]>): string {
  const lines = [
    'connections  server     req/s    p50 ms   p99 ms   req/s of koa   of fastify   p50 of koa   cpu us server + db   of koa   failed',
  ]
  for (const [connections, results] of byConnections)
    for (const name of names) lines.push(row(connections, name, results))
  return [
    ...lines,
    goals,
    `medians of ${[...byConnections.values()][0]?.length} rounds of ${secondsEach} s; a ratio is the median of the ratios of each round`,
  ].join('\n')
}

function figuresOf(byConnections: ReadonlyMap<number, readonly Round[]>): Figure[] {
  return [...byConnections].flatMap(([connections, results]): Figure[] => {
    const of = (read: (measured: Measured) => number): number =>
      median(results.map(({ service }) => read(service)))
    const at = `at ${connections} connection(s)`
    return [
      { name: `tips per second ${at}`, value: of(({ perSecond }) => perSecond), better: 'higher' },
      { name: `p50 in ms ${at}`, value: of(({ p50Ms }) => p50Ms), better: 'lower' },
      { name: `us of CPU, server and database, ${at}`, value: of(cpuOf), better: 'lower' },
    ]
  })
}

function cpuOf({ serverUs, databaseUs }: Measured): number {
  return serverUs + databaseUs
}

function row(connections: number, name: Name, results: readonly Round[]): string {
  const of = (read: (round: Round) => number): number => median(results.map(read))
  const ratio = (peer: Name): string =>
    of((round) => round[name].perSecond / round[peer].perSecond).toFixed(2)
  const cells: [string | number, number][] = [
    [connections, 11],
    [`  ${name.padEnd(8)}`, 10],
    [Math.round(of((round) => round[name].perSecond)), 6],
    [of((round) => round[name].p50Ms).toFixed(2), 10],
    [of((round) => round[name].p99Ms).toFixed(2), 9],
    [ratio('koa'), 15],
    [ratio('fastify'), 13],
    [of((round) => round[name].p50Ms / round.koa.p50Ms).toFixed(2), 13],
    [of((round) => round[name].serverUs).toFixed(0), 16],
    [of((round) => round[name].databaseUs).toFixed(0), 5],
    [of((round) => cpuOf(round[name]) / cpuOf(round.koa)).toFixed(2), 9],
    [results.reduce((sum, round) => sum + round[name].failed, 0), 9],
  ]
  return cells.map(([text, pad]) => String(text).padStart(pad)).join('')
}
