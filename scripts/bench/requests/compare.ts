import { freePort } from '../../dev/ports.js'
import { withConnection } from '../../dev/postgres/session.js'
import { type Load, sendRequests } from '../load.js'
import { alternateOrder, cpuOfServer, median } from '../measurement.js'
import type { Figure, Outcome } from '../outcome.js'
import { type Servers, serviceSettings } from '../servers.js'

/** Settings of PostgreSQL that let it count statements. */
export const countStatements = ['-c', 'shared_preload_libraries=pg_stat_statements']

const connections = 64
const secondsEach = 4
const names = ['service', 'floor'] as const
type Name = (typeof names)[number]

/** What is loaded: `next` returns the bytes of a request. */
export interface Target {
  readonly url: string
  readonly metricsUrl: string
  readonly next: () => Buffer | string
  /** Requests that count as one, as of a page with its files. */
  readonly requestsEach?: number
}
export interface Comparison {
  /** What is counted, such as `intent`. */
  readonly unit: string
  readonly servers: Servers
  readonly targets: Record<Name, Target>
  readonly rounds: number
}

/** All for one unit; CPU in microseconds. */
interface Measured extends Load {
  readonly serverUs: number
  readonly databaseUs: number
  readonly statements: number
}
export type Round = Record<Name, Measured>

/** Starts a web process whose metrics can be read. */
export async function startService(
  servers: Servers,
  settings: Record<string, string> = {},
): Promise<{ url: string; metricsUrl: string }> {
  const metricsPort = await freePort()
  const env = { ...serviceSettings(servers), ...settings, METRICS_PORT: String(metricsPort) }
  const url = await servers.serve('service', ['dist/src/web.js'], env)
  return { url, metricsUrl: `http://127.0.0.1:${metricsPort}` }
}

/** Loads the service and its floor in turns. */
export async function compareRequests({ servers, targets, rounds }: Comparison): Promise<Round[]> {
  for (const { url, next } of Object.values(targets))
    await sendRequests({ url, connections: 16, seconds: 2, next })
  const results: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    const measured: Partial<Round> = {}
    for (const name of alternateOrder(names, round)) measured[name] = await measureOne(servers, targets[name])
    results.push(measured as Round)
  }
  return results
}

async function measureOne(servers: Servers, target: Target): Promise<Measured> {
  const { url, metricsUrl, next, requestsEach = 1 } = target
  const read = () =>
    Promise.all([cpuOfServer(metricsUrl), servers.databaseCpu(), statementsOf(servers.databaseUrl)])
  const before = await read()
  const load = await sendRequests({ url, connections, seconds: secondsEach, next })
  const after = await read()
  const units = (load.perSecond * secondsEach) / requestsEach
  return {
    ...load,
    perSecond: load.perSecond / requestsEach,
    serverUs: ((after[0] - before[0]) * 1e6) / units,
    databaseUs: ((after[1] - before[1]) * 1e6) / units,
    statements: (after[2] - before[2]) / units,
  }
}

/** The statements run so far in the database, as PostgreSQL counts them, without those that a benchmark marks as its own. */
export async function statementsOf(databaseUrl: string): Promise<number> {
  return withConnection(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements s
       join pg_database d on d.oid = s.dbid where datname = current_database() and query not like '%/* bench */%'`,
    )
    return rows[0].calls
  })
}

const header =
  'what             server      per s    p50 ms   p99 ms   of floor   cpu us server + db   statements   failed'

function linesOf(unit: string, results: readonly Round[]): string[] {
  const of = (read: (round: Round) => number): number => median(results.map(read))
  return names.map((name) => {
    const cells: [string | number, number][] = [
      [unit.padEnd(15), 15],
      [`  ${name.padEnd(8)}`, 10],
      [Math.round(of((round) => round[name].perSecond)), 8],
      [of((round) => round[name].p50Ms).toFixed(2), 10],
      [of((round) => round[name].p99Ms).toFixed(2), 9],
      [of((round) => round[name].perSecond / round.floor.perSecond).toFixed(2), 11],
      [of((round) => round[name].serverUs).toFixed(0), 15],
      [of((round) => round[name].databaseUs).toFixed(0), 6],
      [of((round) => round[name].statements).toFixed(1), 13],
      [results.reduce((sum, round) => sum + round[name].failed, 0), 9],
    ]
    return cells.map(([text, width]) => String(text).padStart(width)).join('')
  })
}

function footer(results: readonly Round[]): string {
  return `${connections} connections; medians of ${results.length} rounds of ${secondsEach} s; a ratio is the median of the ratios of each round`
}

function figuresOf(unit: string, results: readonly Round[]): Figure[] {
  const of = (read: (round: Round) => number): number => median(results.map(read))
  return [
    { name: `${unit}: per second`, value: of(({ service }) => service.perSecond), better: 'higher' },
    { name: `${unit}: p50 in ms`, value: of(({ service }) => service.p50Ms), better: 'lower' },
    {
      name: `${unit}: us of CPU, server and database`,
      value: of(({ service }) => service.serverUs + service.databaseUs),
      better: 'lower',
    },
    { name: `${unit}: SQL statements`, value: of(({ service }) => service.statements), better: 'lower' },
  ]
}

export function outcomeOf(unit: string, floor: string, results: readonly Round[]): Outcome {
  return {
    table: [header, ...linesOf(unit, results), `floor: ${floor}`, footer(results)].join('\n'),
    results,
    figures: figuresOf(unit, results),
  }
}
