import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '../../dev/wait-until.js'
import { Draw } from '../acts/draw.js'
import { recordBeginning } from '../month/operator.js'
import { openStage, type Stage } from '../month/stage.js'
import { emptyTruth } from '../month/truth.js'
import { confirmedStamps, owedTo, streamFaults } from '../rolling/owed-events.js'
import { ReverseProxy } from '../rolling/proxy.js'
import { StreamClient } from '../rolling/stream-client.js'
import { ClientNotes } from './client-notes.js'
import { compareAll } from './compare.js'
import { SteadyLoad } from './load.js'
import type { Disturbance, OpenScenario, Run, Scenario } from './scenario.js'

export interface OutagePlan {
  readonly seed: number
  /** How many disturbances there are. */
  readonly rounds: number
  /** No disturbance begins after this time. */
  readonly longestMs?: number
  /** People who do something at the same time. */
  readonly concurrency: number
  readonly creators: number
  /** Things that clients do before each disturbance. */
  readonly acts: number
  readonly report: (progress: string) => void
}

export interface OutageResult {
  readonly disturbances: readonly {
    readonly name: string
    /** How long it took until it was put right. */
    readonly lastedMs: number
    /** From then until the service was itself again. */
    readonly recoveredMs: number
  }[]
  readonly notes: ClientNotes
  /** What clients did, by kind and outcome. */
  readonly counts: Readonly<Record<string, number>>
  readonly landed: number
  readonly payouts: number
  readonly events: number
  readonly kills: number
  readonly faults: readonly string[]
}

const webs = 2
const pollMs = 500
const waitMs = 300_000
const reportMs = 12_000

/**
 * Runs two web processes and all workers under a steady load while the scenario's disturbances happen, one after the other. At the end
 * everything is compared with chain, bank and what the clients were told.
 */
export async function runOutage(scenario: Scenario, plan: OutagePlan): Promise<OutageResult> {
  const { seed, report } = plan
  const folder = mkdtempSync(join(tmpdir(), 'tipping-outage-'))
  // Servers run as a user of their own.
  chmodSync(folder, 0o711)
  const open: OpenScenario = await scenario({ seed, folder, report })
  const notes = new ClientNotes()
  const truth = emptyTruth()
  const closing: (() => Promise<void> | void)[] = [
    () => rmSync(folder, { recursive: true, force: true }),
    open.close,
  ]
  try {
    let proxy: ReverseProxy | undefined
    const stage = await openStage({ ...open.servers, namespace: `outage-${seed}` }, seed, plan.creators, {
      webs,
      restarts: true,
      payoutWallets: false,
      metrics: open.metrics === true,
      ...(open.serviceDatabaseUrl !== undefined && { serviceDatabaseUrl: open.serviceDatabaseUrl }),
      ...(open.env !== undefined && { env: open.env }),
      ...(open.envOf !== undefined && { envOf: open.envOf }),
      async front(urls) {
        proxy = await ReverseProxy.listen(urls, pollMs, { passesAlways: true, onAnswer: notes.note })
        closing.push(proxy.close.bind(proxy))
        return proxy
      },
    })
    closing.push(stage.close)
    await recordBeginning(stage)
    const wallets = stage.creators.map(({ wallet }) => wallet)
    const readers = wallets.map((wallet) => new StreamClient(stage.url, wallet))
    closing.push(() => {
      for (const reader of readers) reader.close()
    })
    let load: SteadyLoad | undefined
    await wait('all streams are open', () => readers.every(({ owedAfter }) => owedAfter !== undefined))
    const running = new SteadyLoad(stage, truth, seed, plan.concurrency)
    // Not waited for: after a failure an act may wait for a service that stands still.
    closing.push(() => void running.stop().catch(() => {}))
    load = running
    let doing = 'begins'
    const beat = setInterval(
      () => report(`${doing}; ${running.done} acts, ${truth.landed.size} tips landed; ${told(notes)}`),
      reportMs,
    )
    closing.push(() => clearInterval(beat))
    async function wait(what: string, condition: () => boolean): Promise<void> {
      const happened = await waitUntil(() => {
        stage.throwFailure()
        load?.throwFailure()
        return condition()
      }, waitMs)
      if (!happened) throw new Error(`${what}: not within ${waitMs / 1000} s; logs: ${stage.logs}`)
    }
    const run: Run = {
      stage,
      notes,
      async untilDone(acts) {
        const before = running.done
        await wait(`${acts} further acts`, () => running.done >= before + acts)
      },
      async untilItself() {
        const since = Date.now()
        await wait('the service is itself again', () => {
          const isReady = (proxy?.readyCount ?? 0) >= (open.readyLeast ?? webs) && notes.worksSince(since)
          return isReady && readers.some(({ ids }) => (ids.at(-1) ?? 0) > since) && hasPaidSince(stage, since)
        })
      },
    }
    const disturbances: OutageResult['disturbances'][number][] = []
    await run.untilItself()
    await open.begin?.(run)
    const begunAt = Date.now()
    for (const [n, { name, act }] of drawOrder(open.disturbances, plan).entries()) {
      if (Date.now() - begunAt > (plan.longestMs ?? Number.POSITIVE_INFINITY)) break
      doing = `before disturbance ${n + 1} of ${plan.rounds}`
      await run.untilDone(plan.acts)
      doing = `disturbance ${n + 1} of ${plan.rounds}: ${name}`
      const startedAt = Date.now()
      await act(run, new Draw(seed + n))
      const rightAt = Date.now()
      doing = `after disturbance ${n + 1} of ${plan.rounds}: ${name}`
      await run.untilItself()
      const recoveredMs = Date.now() - rightAt
      disturbances.push({ name, lastedMs: rightAt - startedAt, recoveredMs })
      report(`${name}: lasted ${rightAt - startedAt} ms, itself again after ${recoveredMs} ms`)
    }
    doing = 'comparing'
    await run.untilDone(plan.acts)
    await running.stop()
    const { final, faults } = await compareAll(stage, truth)
    const stamps = await confirmedStamps(stage.db, wallets)
    await waitUntil(
      () => readers.every((reader) => reader.ids.length >= owedTo(reader, stamps).length),
      waitMs,
    )
    return {
      disturbances,
      notes,
      counts: truth.counts,
      landed: truth.landed.size,
      payouts: final.payouts.executed,
      events: readers.reduce((sum, { ids }) => sum + ids.length, 0),
      kills: stage.kills.length,
      faults: [
        ...faults,
        ...streamFaults(readers, stamps),
        ...notes.faults,
        ...notes.unexpected(open.mayAnswer ?? []),
        ...((await open.check?.(run)) ?? []),
      ],
    }
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

/** Whether the bank has executed a payout since. */
function hasPaidSince({ sandbox: { fiatpay } }: Stage, since: number): boolean {
  return fiatpay.log().transfers.some(({ executedAt }) => new Date(executedAt).getTime() > since)
}

/** Each disturbance once, in an order by the seed, and then again. */
function drawOrder(all: readonly Disturbance[], { seed, rounds }: OutagePlan): Disturbance[] {
  const draw = new Draw(seed)
  const order: Disturbance[] = []
  while (order.length < rounds) {
    const left = [...all]
    while (left.length > 0) order.push(...left.splice(draw.whole(0, left.length - 1), 1))
  }
  return order.slice(0, rounds)
}

function told({ answers }: ClientNotes): string {
  return Object.entries(answers)
    .map(([answer, count]) => `${count} x ${answer}`)
    .join(', ')
}
