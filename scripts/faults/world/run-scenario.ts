import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '../../dev/wait-until.js'
import { type Defer, withClosing } from '../../kit/closing.js'
import { Draw } from '../../kit/draw.js'
import { startNginx } from '../../kit/nginx.js'
import { type Report, sortedRows } from '../../kit/report.js'
import { type ReverseProxy, startReverseProxy } from '../../kit/reverse-proxy.js'
import { confirmedStamps, owedTo, StreamClient, streamFaults } from '../../kit/stream-client.js'
import type { ActName } from './acts.js'
import { ClientNotes } from './client-notes.js'
import { compareBooks } from './compare-books.js'
import { answerFaults } from './compare-payouts.js'
import { Crowd } from './crowd.js'
import { checkEverything } from './final-check.js'
import { compareWithProvider, recordBeginning, recordFees } from './operator.js'
import { settle } from './settle.js'
import { openStage, type Stage, type StageOptions } from './stage.js'
import { emptyTruth, type Truth } from './truth.js'

/** A run under way, as a disturbance sees it. */
export interface Run {
  readonly stage: Stage
  readonly truth: Truth
  readonly notes: ClientNotes
  readonly report: (progress: string) => void
  /** Waits until clients have done so many further things, whatever came of them. */
  untilDone(acts: number): Promise<void>
  /** Waits until all web processes get requests. */
  untilReady(): Promise<void>
  /** Waits until a condition holds, for five minutes. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/** Something that happens to the service, and is put right before it returns. */
export interface Disturbance {
  readonly name: string
  /** Drawn by the seed and the number of the disturbance. */
  act(run: Run, draw: Draw): Promise<void>
}

/** The servers of one run, and what happens to them and to the service. */
export interface Scenario {
  /** On these ways the results are read, and the service's Redis. */
  readonly databaseUrl: string
  readonly redisUrl: string
  /** What differs from two web processes and all workers. */
  readonly stage?: Partial<StageOptions>
  /** What people do. Default: tips, repeats and withdrawals. */
  readonly acts?: Readonly<Partial<Record<ActName, number>>>
  /** How many web processes must be ready for the service to be itself. Default: all. */
  readonly readyLeast?: number
  /** In an order that the seed decides, each at least once; with `inOrder` as they are. */
  readonly disturbances: readonly Disturbance[]
  readonly inOrder?: boolean
  /** Refusals that clients may see, as `ClientNotes` writes them. Default: those that say when to come again. */
  readonly mayAnswer?: readonly string[]
  /** No stream may break off either. */
  readonly keepsStreams?: boolean
  /** In front of the web processes. Default: a proxy of our own that knows `/ready`. */
  readonly router?: 'nginx'
  /** What is left to do when the load has ended. */
  readonly end?: (run: Run) => Promise<void>
  /** What else is to be expected at the end, when nothing is under way. Returns faults. */
  readonly check?: (run: Run) => Promise<readonly string[]>
}

interface ScenarioOptions {
  readonly seed: number
  /** An empty folder for the files of its servers. It is removed. */
  readonly folder: string
  readonly report: (progress: string) => void
  readonly defer: Defer
}

export type OpenScenario = (options: ScenarioOptions) => Promise<Scenario>

export interface ScenarioPlan {
  readonly seed: number
  /** How many disturbances there are. */
  readonly rounds: number
  readonly report: (progress: string) => void
  /** People who do something at the same time. */
  readonly concurrency?: number
  readonly creators?: number
  /** Things that clients do before each disturbance. */
  readonly acts?: number
  /** Streams of each creator. */
  readonly readers?: number
}

interface ScenarioResult extends Report {
  readonly kills: readonly string[]
  /** What has landed, been executed, moved and come, by name. */
  readonly counts: Readonly<Record<string, number>>
}

const usualActs = { crypto: 35, repeat: 20, naira: 20, withdraw: 25, read: 10 } as const
/** Nobody is in a hurry: the load is there to be disturbed, not to fill the machine. */
const pauseMs = 100
const waitMs = 300_000
const reportMs = 12_000

/**
 * Runs web processes and workers under a steady load while the scenario's disturbances happen, one after the other. At the end
 * everything is compared with chain, bank and what the clients were told.
 */
export function runScenario(open: OpenScenario, plan: ScenarioPlan): Promise<ScenarioResult> {
  return withClosing(async (defer) => {
    const { seed, report, creators = 4, concurrency = 4, acts = 40, readers: readersEach = 1 } = plan
    const folder = mkdtempSync(join(tmpdir(), 'tipping-run-'))
    defer(() => rmSync(folder, { recursive: true, force: true }))
    // Servers run as a user of their own.
    chmodSync(folder, 0o711)
    const scenario = await open({ seed, folder, report, defer })
    const { databaseUrl, redisUrl, disturbances, acts: weights = usualActs } = scenario
    const notes = new ClientNotes()
    const truth = emptyTruth()
    let proxy: ReverseProxy | undefined
    let behindProxy = 0
    const stage = await openStage(defer, { databaseUrl, redisUrl, namespace: `run-${seed}` }, seed, {
      creators,
      webs: 2,
      restarts: true,
      ...scenario.stage,
      async front(webs) {
        const behind = scenario.router === 'nginx' ? [await startNginx(webs, defer)] : webs
        const passesAlways = scenario.mayAnswer === undefined || scenario.mayAnswer.length > 0
        behindProxy = behind.length
        proxy = await startReverseProxy(behind, { passesAlways, onAnswer: notes.note }, defer)
        return proxy.url
      },
    })
    await recordBeginning(stage)
    const wallets = stage.creators.map(({ wallet }) => wallet)
    const readers = wallets.flatMap((wallet) =>
      Array.from({ length: readersEach }, () => new StreamClient(stage.url, wallet)),
    )
    defer(() => {
      for (const reader of readers) reader.close()
    })
    let crowd: Crowd | undefined
    async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
      const happened = await waitUntil(() => {
        stage.throwFailure()
        crowd?.throwFailure()
        return condition()
      }, waitMs)
      if (!happened) throw new Error(`${what}: not within ${waitMs / 1000} s; logs: ${stage.logs}`)
    }
    await until('all streams are open', () => readers.every(({ owedAfter }) => owedAfter !== undefined))
    const next = (_: number, draw: Draw) => draw.kind(weights as Readonly<Record<ActName, number>>)
    const running = new Crowd({ stage, truth, seed, concurrency, next, pauseMs })
    crowd = running
    defer(() => running.abandon())
    let doing = 'begins'
    const beat = setInterval(
      () => report(`${doing}; ${running.done} acts, ${truth.landed.size} tips landed; ${notes.told}`),
      reportMs,
    )
    defer(() => clearInterval(beat))
    const untilReady = (count = behindProxy) =>
      until(`${count} processes get requests`, () => (proxy?.readyCount() ?? 0) >= count)
    const run: Run = {
      stage,
      truth,
      notes,
      report,
      until,
      untilReady,
      untilDone(further) {
        const before = running.done
        return until(`${further} further acts`, () => running.done >= before + further)
      },
    }
    /** Its web processes are ready, each kind of request works, a tip was streamed and a payout executed. */
    async function untilItself(): Promise<void> {
      const since = Date.now()
      await untilReady(scenario.readyLeast)
      await until('the service is itself again', () => {
        const isStreamed = readers.some(({ ids }) => (ids.at(-1) ?? 0) > since)
        return notes.worksSince(since, Object.keys(weights)) && isStreamed && hasPaidSince(stage, since)
      })
    }
    const times = new Map<string, [lastedMs: number, recoveredMs: number][]>()
    await untilItself()
    const order = scenario.inOrder ? disturbances : drawOrder(disturbances, plan)
    for (const [n, { name, act }] of order.entries()) {
      doing = `before disturbance ${n + 1} of ${order.length}`
      await run.untilDone(acts)
      doing = `disturbance ${n + 1} of ${order.length}: ${name}`
      const startedAt = Date.now()
      await act(run, new Draw(seed + n))
      const rightAt = Date.now()
      doing = `after ${doing}`
      await untilItself()
      const [lasted, recovered] = [rightAt - startedAt, Date.now() - rightAt]
      times.set(name, [...(times.get(name) ?? []), [lasted, recovered]])
      report(`${name}: lasted ${lasted} ms, itself again after ${recovered} ms`)
    }
    doing = 'comparing'
    await run.untilDone(acts)
    await running.stop()
    await scenario.end?.(run)
    await settle(stage, truth)
    await recordFees(stage, truth, 0)
    const books = await compareBooks(stage, truth)
    const final = await checkEverything(stage, truth)
    await compareWithProvider(stage)
    const stamps = await confirmedStamps(stage.db, wallets)
    const hasAll = (reader: StreamClient): boolean => reader.ids.length >= owedTo(reader, stamps).length
    await waitUntil(() => readers.every(hasAll), waitMs)
    const counts = {
      ...final.counts,
      requests: notes.count,
      'crypto tips landed': truth.landed.size,
      'events that came': readers.reduce((sum, { ids }) => sum + ids.length, 0),
      'connections of streams': readers.reduce((sum, { connections }) => sum + connections, 0),
      'processes killed': stage.kills.length,
    }
    const most = (values: readonly number[]): string => (Math.max(...values) / 1000).toFixed(1)
    return {
      rows: [
        ...sortedRows(truth.counts),
        ...notes.rows,
        ...[...times].map(([name, all]): [string, string] => {
          const [lasted, recovered] = [all.map(([ms]) => ms), all.map(([, ms]) => ms)]
          return [name, `${all.length}; to ${most(lasted)} s, again ${most(recovered)} s`]
        }),
        ...Object.entries(counts),
      ],
      kept: 'nothing was lost, doubled or left half done, and no request failed that may not',
      kills: stage.kills,
      counts,
      faults: [
        ...books.faults,
        ...final.faults,
        ...(await answerFaults(stage.db, truth)),
        ...Object.keys(truth.counts).filter((outcome) => outcome.startsWith('repeat: REFUSED')),
        ...streamFaults(readers, stamps, scenario.keepsStreams === true),
        ...notes.faults,
        ...notes.unexpected(scenario.mayAnswer),
        ...((await scenario.check?.(run)) ?? []),
      ],
    }
  })
}

/** Whether the bank has executed a payout since. */
function hasPaidSince({ sandbox: { fiatpay } }: Stage, since: number): boolean {
  return fiatpay.log().transfers.some(({ executedAt }) => new Date(executedAt).getTime() > since)
}

/** Each disturbance once, in an order by the seed, and then again. */
function drawOrder(all: readonly Disturbance[], { seed, rounds }: ScenarioPlan): readonly Disturbance[] {
  const draw = new Draw(seed)
  const order: Disturbance[] = []
  while (order.length < rounds) {
    const left = [...all]
    while (left.length > 0) order.push(...left.splice(draw.whole(0, left.length - 1), 1))
  }
  return order.slice(0, rounds)
}
