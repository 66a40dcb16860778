import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../dev/wait-until.js'
import { withClosing } from '../kit/closing.js'
import { Draw } from '../kit/draw.js'
import { countBy, type Report, sortedRows } from '../kit/report.js'
import type { ServerUrls } from '../kit/servers.js'
import { type ActName, decideDisputes } from './world/acts.js'
import { type Books, compareBooks } from './world/compare-books.js'
import { Crowd } from './world/crowd.js'
import { checkEverything, type FinalCheck } from './world/final-check.js'
import { compareWithProvider, recordBeginning, recordFees, sell, sweep } from './world/operator.js'
import { settle } from './world/settle.js'
import { openStage, type Stage } from './world/stage.js'
import { emptyTruth, type Truth } from './world/truth.js'

interface MonthPlan {
  readonly seed: number
  readonly days: number
  readonly tips: number
  readonly kills: number
  readonly report: (text: string) => void
}

interface MonthResult extends Report {
  /** The days whose books were compared. */
  readonly days: number
  readonly kills: readonly string[]
  /** Undefined when the books of a day already differed. */
  readonly final: FinalCheck | undefined
}

/** People who do something at the same time. */
const concurrency = 6
const tipsPerCreator = 250
const [fewestCreators, mostCreators] = [4, 40]
const daysPerSale = 3
const reportMs = 15_000
const killMs = 500
/** No day of the longest run takes so long. */
const dayMs = 3_600_000

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
    const creators = Math.round(plan.tips / tipsPerCreator)
    const stage = await openStage(defer, servers, plan.seed, {
      creators: Math.min(mostCreators, Math.max(fewestCreators, creators)),
    })
    const truth = emptyTruth()
    let books: Books = { rows: [], faults: [] }
    await recordBeginning(stage)
    let day = 0
    for (const names of drawDays(plan)) {
      await live(stage, truth, plan, day, names)
      decideDisputes(stage, truth, day, day === plan.days - 1)
      books = await closeDay(stage, truth, plan, day)
      day += 1
      const tips =
        truth.landed.size +
        stage.sandbox.fiatpay.charges.all().filter(({ payments }) => payments.length > 0).length
      plan.report(`day ${day}: ${tips} tips, ${stage.kills.length} kills; ${books.faults.length} differences`)
      if (books.faults.length > 0) break
    }
    const final = books.faults.length === 0 ? await checkEverything(stage, truth) : undefined
    if (final !== undefined) await compareWithProvider(stage)
    const killed = stage.kills.map((kill) => kill.split(' ', 1).join())
    return {
      rows: [
        ...sortedRows(truth.counts),
        ...sortedRows(countBy(killed), 'killed: '),
        ...sortedRows(final?.counts ?? {}),
        ...books.rows,
      ],
      faults: [...books.faults, ...(final?.faults ?? [])],
      kept: 'at every sample the ledger was what chain and bank have, and they covered what is owed; nothing was sent twice or lost',
      days: day,
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
  const next = (n: number): ActName | undefined => {
    const due = first + ((last - first) * (n + draw.next())) / names.length
    if (n < names.length && Math.max(asked, stage.kills.length) < Math.floor(due)) {
      asked += 1
      stage.killOne(draw.next())
    }
    return names[n]
  }
  const crowd = new Crowd({ stage, truth, day, seed: seed + 100_000 * (day + 1), concurrency, next })
  const tell = () =>
    report(`day ${day + 1}: ${crowd.done} of ${names.length} acts; ${stage.kills.length} of ${kills} kills`)
  const beat = setInterval(tell, reportMs)
  let living = true
  const isNoon = (): boolean => crowd.done * 2 >= names.length
  const sweeping = waitUntil(isNoon, dayMs, () => living).then(() => sweep(stage))
  try {
    await Promise.all([sweeping, crowd.ended])
  } finally {
    living = false
    clearInterval(beat)
  }
  for (; stage.kills.length < last; await sleep(killMs)) stage.killOne(draw.next())
}

/** When nothing is under way, the operator sweeps, records the fees, and sells USDC now and then; then the books are compared. */
async function closeDay(stage: Stage, truth: Truth, plan: MonthPlan, day: number): Promise<Books> {
  await settle(stage, truth)
  await sweep(stage)
  await recordFees(stage, truth, day)
  if (day % daysPerSale === daysPerSale - 1) await sell(stage, new Draw(plan.seed + day), day)
  return compareBooks(stage, truth)
}
