import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '../../dev/wait-until.js'
import { withClosing } from '../../kit/closing.js'
import { Draw } from '../../kit/draw.js'
import { startNginx } from '../../kit/nginx.js'
import { type Report, sortedRows } from '../../kit/report.js'
import { ReverseProxy } from '../../kit/reverse-proxy.js'
import { confirmedStamps, owedTo, StreamClient, streamFaults } from '../../kit/stream-client.js'
import { ClientNotes } from './client-notes.js'
import { answerFaults } from './compare-payouts.js'
import { byWeights, Crowd } from './crowd.js'
import { checkEverything } from './final-check.js'
import { compareWithProvider, makeReport, recordBeginning, recordFees } from './operator.js'
import { takeSample } from './sample.js'
import type { Disturbance, OpenScenario, Run, ScenarioPlan } from './scenario.js'
import { settle } from './settle.js'
import { openStage, type Stage } from './stage.js'
import { emptyTruth, type Truth } from './truth.js'

const usualActs = { crypto: 35, repeat: 20, naira: 20, withdraw: 25, read: 10 } as const
/** Nobody is in a hurry: the load is there to be disturbed, not to fill the machine. */
const pauseMs = 100
const pollMs = 500
const waitMs = 300_000
const reportMs = 12_000
/** A difference counts when it is there three times: the clock may have read the float before the operator did. */
const readsMax = 3
/** A withdrawal was made. */
const accepted = [200, 502]

export interface ScenarioResult extends Report {
  readonly kills: readonly string[]
  readonly landed: number
  readonly payouts: number
  readonly events: number
  /** Sweeps and take-outs by their state. */
  readonly moves: Readonly<Record<'sweeps' | 'takeOuts', Readonly<Record<string, number>>>>
}

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
    const { databaseUrl, redisUrl, disturbances, readyLeast } = scenario
    const notes = new ClientNotes()
    const truth = emptyTruth()
    let proxy: ReverseProxy | undefined
    const stage = await openStage(defer, { databaseUrl, redisUrl, namespace: `run-${seed}` }, seed, {
      creators,
      webs: 2,
      restarts: true,
      payoutWallets: false,
      ...scenario.stage,
      async front(webs) {
        const behind = scenario.router === 'nginx' ? [await startNginx(webs, defer)] : webs
        const passesAlways = scenario.mayAnswer === undefined || scenario.mayAnswer.length > 0
        proxy = await ReverseProxy.listen(behind, pollMs, { passesAlways, onAnswer: notes.note })
        defer(() => proxy?.close())
        return proxy
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
    const { acts: weights = usualActs } = scenario
    const next = byWeights(weights)
    const running = new Crowd({ stage, truth, seed, concurrency, next, pauseMs })
    crowd = running
    defer(() => running.abandon())
    let doing = 'begins'
    const beat = setInterval(
      () => report(`${doing}; ${running.done} acts, ${truth.landed.size} tips landed; ${notes.told}`),
      reportMs,
    )
    defer(() => clearInterval(beat))
    const run: Run = {
      stage,
      truth,
      notes,
      report,
      until,
      untilDone(further) {
        const before = running.done
        return until(`${further} further acts`, () => running.done >= before + further)
      },
      untilReady: (count = proxy?.count ?? 0) =>
        until(`${count} processes get requests`, () => (proxy?.readyCount ?? 0) >= count),
      takeOut: (url, out) => proxy?.takeOut(url, out),
    }
    /** Its web processes are ready, each kind of request works, a tip was streamed and a payout executed. */
    async function untilItself(): Promise<void> {
      const since = Date.now()
      await run.untilReady(readyLeast)
      await until('the service is itself again', () => {
        const isStreamed = readers.some(({ ids }) => (ids.at(-1) ?? 0) > since)
        return notes.worksSince(since, Object.keys(weights)) && isStreamed && hasPaidSince(stage, since)
      })
    }
    const times: DisturbanceTimes[] = []
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
      times.push({ name, lastedMs: rightAt - startedAt, recoveredMs: Date.now() - rightAt })
      report(`${name}: lasted ${rightAt - startedAt} ms, itself again after ${Date.now() - rightAt} ms`)
    }
    doing = 'comparing'
    await run.untilDone(acts)
    await running.stop()
    await scenario.end?.(run)
    const books = await compareBooks(stage, truth)
    const final = await checkEverything(stage, truth)
    await compareWithProvider(stage)
    const stamps = await confirmedStamps(stage.db, wallets)
    const hasAll = (reader: StreamClient): boolean => reader.ids.length >= owedTo(reader, stamps).length
    await waitUntil(() => readers.every(hasAll), waitMs)
    const events = readers.reduce((sum, { ids }) => sum + ids.length, 0)
    return {
      rows: [
        ...sortedRows(truth.counts),
        ...notes.rows,
        ...rowsOf(times),
        ['requests', notes.count],
        ['crypto tips landed', truth.landed.size],
        ['payouts executed', final.payouts.executed],
        ['events that came', events],
        ['connections of streams', readers.reduce((sum, { connections }) => sum + connections, 0)],
        ['processes killed', stage.kills.length],
      ],
      kept: 'nothing was lost, doubled or left half done, and no request failed that may not',
      kills: stage.kills,
      landed: truth.landed.size,
      payouts: final.payouts.executed,
      events,
      moves: final.moves,
      faults: [
        ...books,
        ...final.faults,
        ...(await answerFaults(
          stage.db,
          truth.withdrawals.filter(({ status }) => accepted.includes(status)),
        )),
        ...refusedRepeats(truth),
        ...streamFaults(readers, stamps, scenario.keepsStreams === true),
        ...notes.faults,
        ...notes.unexpected(scenario.mayAnswer),
        ...((await scenario.check?.(run)) ?? []),
      ],
    }
  })
}

interface DisturbanceTimes {
  readonly name: string
  /** How long it took until it was put right. */
  readonly lastedMs: number
  /** From then until the service was itself again. */
  readonly recoveredMs: number
}

function rowsOf(times: readonly DisturbanceTimes[]): (readonly [string, string])[] {
  const most = (values: readonly number[]): string => (Math.max(0, ...values) / 1000).toFixed(1)
  return [...new Set(times.map(({ name }) => name))].map((name) => {
    const each = times.filter((one) => one.name === name)
    const lasted = most(each.map(({ lastedMs }) => lastedMs))
    const recovered = most(each.map(({ recoveredMs }) => recoveredMs))
    return [name, `${each.length}; to ${lasted} s, again ${recovered} s`]
  })
}

/** Waits until nothing is under way, and compares each account of the ledger with chain and bank. */
async function compareBooks(stage: Stage, truth: Truth): Promise<readonly string[]> {
  await settle(stage, truth)
  await recordFees(stage, truth, 0, 0)
  for (let reads = 1; ; reads++) {
    await settle(stage, truth)
    const { faults } = await takeSample(stage, truth, await makeReport(stage))
    if (faults.length === 0 || reads >= readsMax) return faults
  }
}

function refusedRepeats({ counts }: Truth): string[] {
  return Object.entries(counts)
    .filter(([outcome]) => outcome.startsWith('repeat: REFUSED'))
    .map(([outcome, count]) => `${outcome} (${count} times)`)
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
