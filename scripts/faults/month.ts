import { setTimeout as sleep } from 'node:timers/promises'
import { nairaText, usdcText } from '../../src/kernel/money.js'
import { waitUntil } from '../dev/wait-until.js'
import { withClosing } from '../kit/closing.js'
import { Draw } from '../kit/draw.js'
import { countBy, type Report, sortedRows } from '../kit/report.js'
import type { ServerUrls } from '../kit/servers.js'
import { type ActName, decideDisputes } from './world/acts.js'
import { Crowd, inOrder } from './world/crowd.js'
import { checkEverything, type FinalCheck } from './world/final-check.js'
import {
  compareWithProvider,
  makeReport,
  recordBeginning,
  recordFees,
  sell,
  sweep,
} from './world/operator.js'
import { type Sample, takeSample } from './world/sample.js'
import { settle } from './world/settle.js'
import { openStage, type Stage } from './world/stage.js'
import { emptyTruth, type Truth } from './world/truth.js'

export interface MonthPlan {
  readonly seed: number
  readonly days: number
  readonly tips: number
  readonly kills: number
  readonly report: (text: string) => void
}

export interface MonthResult extends Report {
  readonly samples: readonly Sample[]
  readonly kills: readonly string[]
  /** Undefined when a sample already differed. */
  readonly final: FinalCheck | undefined
}

/** People who do something at the same time. */
const concurrency = 6
const tipsPerCreator = 250
const creatorsRange = [4, 40] as const
/** Of so many kills one is of an operator's command. */
const killsPerCommand = 5
const daysPerSale = 3
const reportMs = 15_000
const killMs = 500
/** No day of the longest run takes so long. */
const dayMs = 3_600_000
const readsMax = 3

/** For so many tips there is one of these acts, and at least so many. Of naira tips, which are half of all, 2 % are disputed. */
const perTips: Readonly<Partial<Record<ActName, readonly [tips: number, least: number]>>> = {
  withdraw: [10, 10],
  take: [60, 5],
  refund: [100, 2],
  dispute: [100, 2],
  deposit: [200, 1],
  rate: [100, 3],
}

/**
 * A month of the whole business, day by day: people do things at the same time while processes are killed, then the operator works,
 * and when nothing is under way the books are compared with those of chain and bank. Stops at the first difference.
 */
export function runMonth(servers: ServerUrls, plan: MonthPlan): Promise<MonthResult> {
  return withClosing(async (defer) => {
    const [least, most] = creatorsRange
    const creators = Math.min(most, Math.max(least, Math.round(plan.tips / tipsPerCreator)))
    const stage = await openStage(defer, servers, plan.seed, { creators })
    const truth = emptyTruth()
    const samples: Sample[] = []
    let final: FinalCheck | undefined
    await recordBeginning(stage)
    const days = drawDays(plan)
    for (const [day, names] of days.entries()) {
      await live(stage, truth, plan, day, names)
      const isLast = day === days.length - 1
      decideDisputes(stage, truth, day, isLast)
      samples.push(await closeDay(stage, truth, plan, day))
      plan.report(progressOf(stage, truth, day, samples))
      if ((samples.at(-1)?.faults.length ?? 0) > 0) break
      if (isLast) {
        final = await checkEverything(stage, truth)
        await compareWithProvider(stage)
      }
    }
    return {
      rows: rowsOf(stage, truth, samples.at(-1), final),
      faults: [...(samples.at(-1)?.faults ?? []), ...(final?.faults ?? [])],
      kept: 'at every sample the ledger was what chain and bank have, and they covered what is owed; nothing was sent twice or lost',
      samples,
      kills: stage.kills,
      final,
    }
  })
}

/** The acts of each day, in the order in which they begin. What needs money of an earlier day is not on the first one. */
function drawDays({ seed, days, tips }: MonthPlan): ActName[][] {
  const draw = new Draw(seed)
  const result: ActName[][] = Array.from({ length: days }, () => [])
  const place = (name: ActName, count: number, first: number): void => {
    for (let n = 0; n < count; n++) {
      const day = result[draw.whole(Math.min(first, days - 1), days - 1)] as ActName[]
      day.splice(draw.whole(0, day.length), 0, name)
    }
  }
  place('crypto', Math.ceil(tips / 2), 0)
  place('naira', Math.floor(tips / 2), 0)
  for (const [name, [per, least]] of Object.entries(perTips))
    place(name as ActName, Math.max(least, Math.round(tips / per)), name === 'withdraw' ? 0 : 1)
  return result
}

/** The kills of operators' commands on a day; on the first one there is nothing to sweep. */
function commandKills({ kills, days }: MonthPlan, day: number): number {
  if (day === 0) return 0
  const until = (last: number): number =>
    Math.round((last * kills) / (killsPerCommand * Math.max(1, days - 1)))
  return until(day) - until(day - 1)
}

/** The acts of a day, several at a time, while processes are killed and the operator sweeps. */
async function live(
  stage: Stage,
  truth: Truth,
  plan: MonthPlan,
  day: number,
  names: readonly ActName[],
): Promise<void> {
  const { seed, days, kills, report } = plan
  const draw = new Draw(seed + day)
  const first = stage.kills.length
  const last = Math.ceil(((day + 1) * kills) / days)
  let asked = first
  const nextOf = inOrder(names)
  const next = (n: number): ActName | undefined => {
    const due = first + ((last - first) * (n + draw.next())) / names.length
    if (n < names.length && Math.max(asked, stage.kills.length) < Math.floor(due)) {
      asked += 1
      stage.killOne(draw.next())
    }
    return nextOf(n)
  }
  const crowd = new Crowd({ stage, truth, day, seed: seed + 100_000 * (day + 1), concurrency, next })
  const beat = setInterval(
    () =>
      report(
        `day ${day + 1}: ${crowd.done} of ${names.length} acts; ${stage.kills.length} of ${kills} kills`,
      ),
    reportMs,
  )
  let living = true
  const isNoon = (): boolean => crowd.done * 2 >= names.length
  const sweepKills = Math.ceil(commandKills(plan, day) / 3)
  const sweeping = waitUntil(isNoon, dayMs, () => living).then(() =>
    sweep(stage, sweepKills, seed + 1000 * day),
  )
  try {
    await Promise.all([sweeping, crowd.ended])
  } finally {
    living = false
    clearInterval(beat)
  }
  for (; stage.kills.length < last; await sleep(killMs)) stage.killOne(draw.next())
}

/**
 * When nothing is under way, the operator records the fees, sells USDC now and then, and makes a report; then the books are compared.
 * A difference counts when it is there three times: a reading of the float by the clock may have begun before the operator's.
 */
async function closeDay(stage: Stage, truth: Truth, plan: MonthPlan, day: number): Promise<Sample> {
  await settle(stage, truth)
  const sweepKills = Math.ceil(commandKills(plan, day) / 3)
  await sweep(stage, sweepKills, plan.seed + 1000 * day + 500)
  const recordKills = Math.max(0, commandKills(plan, day) - 2 * sweepKills)
  await recordFees(stage, truth, day, recordKills)
  if (day % daysPerSale === daysPerSale - 1) await sell(stage, new Draw(plan.seed + day), day, 0)
  for (let reads = 1; ; reads++) {
    await settle(stage, truth)
    const sample = await takeSample(stage, truth, await makeReport(stage))
    if (sample.faults.length === 0 || reads >= readsMax) return sample
  }
}

function progressOf(stage: Stage, truth: Truth, day: number, samples: readonly Sample[]): string {
  const sample = samples.at(-1)
  const tips =
    truth.landed.size +
    stage.sandbox.fiatpay.charges.all().filter(({ payments }) => payments.length > 0).length
  const owed = `owed ${usdcText(sample?.owed ?? 0n)}, custody ${usdcText(sample?.custody ?? 0n)}`
  return `day ${day + 1}: ${tips} tips, ${stage.kills.length} kills; ${owed}, ${sample?.faults.length} differences`
}

function rowsOf(stage: Stage, truth: Truth, last: Sample | undefined, final: FinalCheck | undefined) {
  const killed = stage.kills.map((kill) => kill.split(' ', kill.startsWith('ops ') ? 2 : 1).join(' '))
  return [
    ...sortedRows(truth.counts),
    ...sortedRows(countBy(killed), 'killed: '),
    ...sortedRows(final?.payouts.endings ?? {}, 'withdrawals: '),
    ...sortedRows(final?.moves.sweeps ?? {}, 'sweeps: '),
    ...sortedRows(final?.moves.takeOuts ?? {}, 'take-outs: '),
    ...(last === undefined
      ? []
      : ([
          ['owed to creators', usdcText(last.owed)],
          ['custody on the chain', usdcText(last.custody)],
          ['treasury on the chain', usdcText(last.treasury)],
          ['balance at the bank', nairaText(last.float)],
          ['creators owe', usdcText(last.receivables)],
          ['left if everybody is paid', nairaText(last.surplus)],
          ['what rates changed', nairaText(last.byRates)],
        ] as const)),
  ]
}
