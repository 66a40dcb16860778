import { mkdtempSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { usdcText } from '../../../src/kernel/money.js'
import { migrateToLatest } from '../../../src/platform/database/migrations/migrate.js'
import { withConnection } from '../../dev/postgres/session.js'
import { checkEverything } from '../month/final-check.js'
import { makeReport, recordBeginning, recordFees, sweep } from '../month/operator.js'
import { takeSample } from '../month/sample.js'
import { settle } from '../month/settle.js'
import { openStage, type Stage } from '../month/stage.js'
import { emptyTruth, type Truth } from '../month/truth.js'
import { usdcOf } from '../sweeps/compare-moves.js'
import { startDebianPostgres } from './debian-postgres.js'
import { askForMoney, type LifeContext, live, type OwnNotes } from './life.js'
import { followRestoreCheck } from './operator.js'

export interface DrillPlan {
  readonly seed: number
  readonly payouts: number
  readonly redisUrl: string
  readonly report: (text: string) => void
}

export interface DrillResult {
  readonly faults: readonly string[]
  /** Name and value of what was measured or counted. */
  readonly figures: readonly (readonly [name: string, value: string])[]
}

const database = 'tips'
const creatorCount = 8
/** Everything starts at once, and each worker has looked for work several times. */
const watchMs = 10_000
const readsMax = 3
const bankFaults = {
  transfers: { auto: 94, 'accept-then-500': 2, 'accept-then-reset': 2, '500': 2 },
  outcomes: { success: 96, failed: 4 },
  settleMs: 300,
  webhooks: { copies: 1 },
} as const

/**
 * The service works for a while, `ops backup` runs under load, more happens, and the server is lost. The backup is restored into a new
 * server, the whole service starts, an operator follows `restore-check`, and everything is compared with chain and bank.
 */
export async function runDrill({ seed, payouts, redisUrl, report }: DrillPlan): Promise<DrillResult> {
  const figures: [string, string][] = []
  const timed = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    report(name)
    const startedAt = performance.now()
    const result = await work()
    figures.push([name, `${((performance.now() - startedAt) / 1000).toFixed(1)} s`])
    return result
  }
  const folder = mkdtempSync(join(tmpdir(), 'tipping-backup-'))
  const file = join(folder, 'backup.dump')
  const first = await startDebianPostgres()
  let second: typeof first | undefined
  let stage: Stage | undefined
  try {
    await withConnection(`${first.url}postgres`, (client) => client.query(`create database ${database}`))
    const databaseUrl = `${first.url}${database}`
    await migrateToLatest(databaseUrl)
    stage = await openStage({ databaseUrl, redisUrl, namespace: `restore-${seed}` }, seed, creatorCount)
    // What comes back days later is not what is tried here.
    stage.sandbox.fiatpay.faults.setFault({ seed, ...bankFaults })
    await recordBeginning(stage)
    const truth = emptyTruth()
    const notes: OwnNotes = { withdrawals: new Map(), tips: new Map() }
    const context = (part: number): LifeContext => ({
      stage: stage as Stage,
      truth,
      notes,
      seed: seed + part * 100_000,
      report,
    })
    const share = (part: number): number => Math.max(2, Math.round(payouts * part))

    await timed('before the backup', async () => {
      await live(context(1), { crypto: share(0.5), naira: share(0.2), withdrawals: 0, takeOuts: 0 })
      await settle(stage as Stage, truth)
    })
    const loaded = live(context(2), {
      crypto: share(0.2),
      naira: share(0.1),
      withdrawals: share(0.3),
      takeOuts: 2,
    })
    await timed('ops backup under load', () => requireDone(stage as Stage, ['backup', '--out', file]))
    figures.push(['size of the backup', `${(statSync(file).size / 1e6).toFixed(1)} MB`])
    await loaded
    await timed('what is lost', () => loseTime(context(3), payouts, share))

    await stage.stopService()
    await first.lose()
    report('the server is lost, with its disk')
    second = await startDebianPostgres()
    const target = second
    await timed('pg_restore into a new server', () => target.restore(database, file))
    stage = await timed('start of the service', () => (stage as Stage).moveTo(`${target.url}${database}`))
    const restored = stage
    await countLosses(restored, truth, notes, figures)
    const before = sentBy(restored)
    let atEnd = before
    await timed('watched: nothing is sent', () => watch(restored, notes))
    const adoption = await timed('restore-check --adopt-all', async () => {
      await requireRefusal(restored)
      return followRestoreCheck({ stage: restored, truth, notes, report }, () => {
        atEnd = sentBy(restored)
      })
    })
    figures.push(['rounds of restore-check', String(adoption.rounds)], ['adopted', String(adoption.adopted)])
    await timed('until nothing is under way', () => settle(restored, truth))
    const faults = [
      ...(before === atEnd ? [] : [`sent before the restore was accepted: from ${before} to ${atEnd}`]),
      ...(await finalFaults(restored, truth, figures)),
    ]
    return { faults, figures: [['server', target.version], ...figures] }
  } finally {
    await stage?.close()
    await first.lose()
    await second?.lose()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Payouts, tips, take-outs and a sweep that no backup has. */
async function loseTime(
  context: LifeContext,
  payouts: number,
  share: (part: number) => number,
): Promise<void> {
  const half = { crypto: share(0.15), naira: share(0.05), withdrawals: Math.ceil(payouts / 2), takeOuts: 3 }
  await live(context, half)
  await sweep(context.stage, 0, context.seed)
  await live({ ...context, seed: context.seed + 50_000 }, half)
}

async function requireDone(stage: Stage, [name = '', ...args]: readonly string[]): Promise<void> {
  const { code, out, err } = await stage.commands.run(name, args)
  if (code !== 0) throw new Error(`ops ${name} ended with ${code}: ${out}${err}`)
}

/** What the restored rows lack of what people did. */
async function countLosses(
  { db }: Stage,
  { landed }: Truth,
  notes: OwnNotes,
  figures: [string, string][],
): Promise<void> {
  for (const [name, table, column, all] of [
    ['withdrawals', 'withdrawals', 'reference', notes.withdrawals],
    ['crypto tips', 'tips', 'id', landed],
    ['naira tips', 'fiat_intents', 'id', notes.tips],
  ] as const) {
    const ids = [...all.keys()]
    const here = await db(table).whereIn(column, ids)
    figures.push([`lost of ${ids.length} ${name}`, String(ids.length - here.length)])
  }
}

/** Requests to the bank for transfers, and micro-USDC in custody: no tip arrives meanwhile. */
function sentBy({ sandbox: { fiatpay, chain }, creators }: Stage): string {
  const requests = Object.values(fiatpay.sendings.all()).reduce((sum, count) => sum + count, 0)
  const custody = creators.reduce((sum, { wallet }) => sum + usdcOf(chain, wallet), 0n)
  return `${requests} requests to the bank, ${custody} in custody`
}

/** The whole service runs, and creators ask for money. */
async function watch(stage: Stage, { withdrawals }: OwnNotes): Promise<void> {
  await Promise.all(
    stage.creators.map(async (creator) => {
      const reference = await askForMoney(stage, creator, 1)
      if (reference !== undefined) withdrawals.set(reference, creator.userId)
    }),
  )
  await sleep(watchMs)
}

/** It says that the database is a copy, and is not accepted as it is. */
async function requireRefusal({ commands }: Stage): Promise<void> {
  const check = await commands.run('restore-check', ['--json'])
  if (check.code !== 4 || JSON.parse(check.out).state !== 'copied')
    throw new Error(`restore-check ended with ${check.code}: ${check.out}${check.err}`)
  const early = ['--apply', '--confirm', '0', '--reason', 'too early']
  const refused = await commands.run('restore-check', early)
  if (refused.code !== 3) throw new Error(`it was accepted too early: ${refused.code} ${refused.out}`)
}

/** Books, chain and bank. A reading of the float by the clock may have begun before the operator's, so a difference is read again. */
async function finalFaults(stage: Stage, truth: Truth, figures: [string, string][]): Promise<string[]> {
  await recordFees(stage, truth, 1, 0)
  await sweep(stage, 0, 1)
  for (let reads = 1; ; reads++) {
    await settle(stage, truth)
    const sample = await takeSample(stage, truth, await makeReport(stage))
    if (sample.faults.length > 0 && reads < readsMax) continue
    const { faults, payouts } = await checkEverything(stage, truth)
    figures.push(
      ['withdrawals compared', String(payouts.withdrawals)],
      ['executed by the bank', String(payouts.executed)],
      ['creators owe', usdcText(sample.receivables)],
    )
    return [...sample.faults, ...faults]
  }
}
