import { say } from '../bootstrap/progress.mjs'
import { cpuOfServer } from './cpu.js'
import { type Ground, openGround, serviceSettings } from './ground.js'
import { type Load, recordTips } from './load.js'
import { inTurn, median } from './rounds.js'

const rounds = 5
const secondsEach = 4
const widths = [64, 1] as const
const goals =
  'goals: at 64 connections >= 1.50 of koa and >= 1.00 of fastify; at 1 connection p50 <= 1.40 of koa'

const names = ['service', 'koa', 'fastify'] as const
type Name = (typeof names)[number]
/** CPU time of one request in microseconds, of the server and of PostgreSQL. */
interface Measured extends Load {
  readonly serverUs: number
  readonly databaseUs: number
}
type Round = Record<Name, Measured>

/**
 * `POST /chain/tips/create` of the whole product as it ships - validation, request ids, metrics, error shapes - beside a
 * bare Koa and a bare Fastify with one INSERT each, in turn, on one PostgreSQL.
 */
export async function benchRecord(): Promise<{ table: string; results: unknown }> {
  const ground = await openGround()
  try {
    await ground.sql(
      'create table peer_tips (id text primary key, creator_wallet text not null, sender text not null, amount numeric not null, created_at timestamptz not null default now())',
    )
    const servers: Record<Name, string> = {
      service: await ground.serve('service', ['dist/src/web.js'], serviceSettings(ground)),
      koa: await ground.serve('koa', ['dist/scripts/bench/peers.js', 'koa'], {}),
      fastify: await ground.serve('fastify', ['dist/scripts/bench/peers.js', 'fastify'], {}),
    }
    for (const url of Object.values(servers)) await recordTips(url, 16, 2)
    const byWidth = new Map<number, Round[]>()
    for (const width of widths) byWidth.set(width, await measure(ground, servers, width))
    return { table: tableOf(byWidth), results: Object.fromEntries(byWidth) }
  } finally {
    await ground.close()
  }
}

async function measure(ground: Ground, servers: Record<Name, string>, width: number): Promise<Round[]> {
  const results: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    say(`${width} connection(s), round ${round} of ${rounds}`)
    const loads: Partial<Round> = {}
    for (const name of inTurn(names, round)) loads[name] = await measureOne(ground, servers[name], width)
    results.push(loads as Round)
  }
  return results
}

async function measureOne(ground: Ground, url: string, width: number): Promise<Measured> {
  const cpu = (): Promise<number[]> => Promise.all([cpuOfServer(url), ground.databaseCpu()])
  const [server = 0, database = 0] = await cpu()
  const load = await recordTips(url, width, secondsEach)
  const [serverAfter = 0, databaseAfter = 0] = await cpu()
  const perRequest = (seconds: number): number => (seconds * 1e6) / (load.perSecond * secondsEach)
  return {
    ...load,
    serverUs: perRequest(serverAfter - server),
    databaseUs: perRequest(databaseAfter - database),
  }
}

function tableOf(byWidth: ReadonlyMap<number, readonly Round[]>): string {
  const lines = [
    'connections  server     req/s    p50 ms   p99 ms   req/s of koa   of fastify   p50 of koa   cpu us server + db   of koa   failed',
  ]
  for (const [width, results] of byWidth) for (const name of names) lines.push(row(width, name, results))
  return [
    ...lines,
    goals,
    `medians of ${rounds} rounds of ${secondsEach} s; ratios are medians of the rounds' own ratios`,
  ].join('\n')
}

function cpuOf({ serverUs, databaseUs }: Measured): number {
  return serverUs + databaseUs
}

function row(width: number, name: Name, results: readonly Round[]): string {
  const of = (read: (round: Round) => number): number => median(results.map(read))
  const ratio = (peer: Name): string =>
    of((round) => round[name].perSecond / round[peer].perSecond).toFixed(2)
  const cells: [string | number, number][] = [
    [width, 11],
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
