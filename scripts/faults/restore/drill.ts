import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { usdcText } from '../../../src/kernel/money.js'
import { migrateToLatest } from '../../../src/platform/database/migrations/migrate.js'
import { withdrawUntilFinal } from '../../kit/client.js'
import { withClosing } from '../../kit/closing.js'
import { DebianPostgres, folderForServer } from '../../kit/debian-postgres.js'
import type { Report } from '../../kit/report.js'
import { startRedis } from '../../kit/servers.js'
import type { ActName } from '../world/acts.js'
import { usdcOf } from '../world/compare-moves.js'
import { Crowd, inOrder, mixed } from '../world/crowd.js'
import { checkEverything } from '../world/final-check.js'
import { makeReport, recordBeginning, recordFees, sweep } from '../world/operator.js'
import { takeSample } from '../world/sample.js'
import { settle } from '../world/settle.js'
import { openStage, type Stage } from '../world/stage.js'
import { emptyTruth, type Truth } from '../world/truth.js'
import { followRestoreCheck } from './operator.js'

export interface DrillPlan {
  readonly seed: number
  readonly payouts: number
  readonly report: (text: string) => void
}

const creatorCount = 8
const concurrency = 6
/** Everything starts at once, and each worker has looked for work several times. */
const watchMs = 10_000
const readsMax = 3
/** What comes back days later is not what is tried here. */
const bank = {
  transfers: { auto: 94, 'accept-then-500': 2, 'accept-then-reset': 2, '500': 2 },
  outcomes: { success: 96, failed: 4 },
  settleMs: 300,
  webhooks: { copies: 1 },
} as const
const flags = ['-c', 'max_connections=200', '-c', 'shared_buffers=128MB']

/**
 * The service works for a while, `ops backup` runs under load, more happens, and the server is lost. The backup is restored into a new
 * server, the whole service starts, an operator follows `restore-check`, and everything is compared with chain and bank.
 */
export function runDrill({ seed, payouts, report }: DrillPlan): Promise<Report> {
  return withClosing(async (defer) => {
    const rows: [string, string][] = []
    const timed = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
      report(name)
      const startedAt = performance.now()
      const result = await work()
      rows.push([name, `${((performance.now() - startedAt) / 1000).toFixed(1)} s`])
      return result
    }
    const folder = mkdtempSync(join(tmpdir(), 'tipping-restore-'))
    defer(() => rmSync(folder, { recursive: true, force: true }))
    // The server runs as a user of its own.
    chmodSync(folder, 0o711)
    const log = `${folderForServer(folder, 'logs')}/postgres.log`
    const startServer = async (name: string): Promise<DebianPostgres> => {
      const server = await DebianPostgres.create(folderForServer(folder, name), log, flags)
      await server.start()
      defer(() => server.kill())
      return server
    }
    const file = join(folder, 'backup.dump')
    const first = await startServer('first')
    await migrateToLatest(first.url)
    const redisUrl = await startRedis(folder, defer)
    const urls = { databaseUrl: first.url, redisUrl, namespace: `restore-${seed}` }
    const stage = await openStage(defer, urls, seed, { creators: creatorCount, bank })
    await recordBeginning(stage)
    const truth = emptyTruth()
    const share = (part: number): number => Math.max(2, Math.round(payouts * part))
    const live = (part: number, counts: Partial<Record<ActName, number>>): Promise<void> => {
      const partSeed = seed + part * 100_000
      const next = inOrder(mixed(counts, partSeed))
      return new Crowd({ stage, truth, seed: partSeed, concurrency, next }).ended
    }
    await timed('before the backup', async () => {
      await live(1, { crypto: share(0.5), naira: share(0.2) })
      await settle(stage, truth)
    })
    const underLoad = { crypto: share(0.2), naira: share(0.1), withdrawSome: share(0.3), take: 2 }
    const loaded = live(2, underLoad)
    await timed('ops backup under load', () => requireDone(stage, ['backup', '--out', file]))
    rows.push(['size of the backup', `${(statSync(file).size / 1e6).toFixed(1)} MB`])
    await loaded
    // Payouts, tips, take-outs and a sweep that no backup has.
    const lost = { crypto: share(0.15), naira: share(0.05), withdrawSome: Math.ceil(payouts / 2), take: 3 }
    await timed('what is lost', async () => {
      await live(3, lost)
      await sweep(stage, 0, seed)
      await live(4, lost)
    })
    await stage.stopService()
    await first.kill()
    report('the server is lost, with its disk')
    const second = await startServer('second')
    await timed('pg_restore into a new server', () => second.restore(file))
    const restored = await timed('start of the service', () => stage.moveTo(second.url))
    rows.push(...(await countLosses(restored, truth)))
    const before = sentBy(restored)
    let atEnd = before
    await timed('watched: nothing is sent', () => watch(restored, truth))
    const { rounds, adopted } = await timed('restore-check --adopt-all', async () => {
      await requireRefusal(restored)
      return followRestoreCheck({ stage: restored, truth, report }, () => {
        atEnd = sentBy(restored)
      })
    })
    await timed('until nothing is under way', () => settle(restored, truth))
    const sent = before === atEnd ? [] : [`sent before the restore was accepted: from ${before} to ${atEnd}`]
    const end = await compareAll(restored, truth)
    return {
      rows: [
        ['server', second.version],
        ...rows,
        ['rounds of restore-check', rounds],
        ['adopted', adopted],
        ...end.rows,
      ],
      faults: [...sent, ...end.faults],
      kept: 'nothing was sent before the restore was accepted; nobody was paid twice, nobody lost a tip, and the books are what chain and bank have',
    }
  })
}

async function requireDone(stage: Stage, [name = '', ...args]: readonly string[]): Promise<void> {
  const { code, out, err } = await stage.commands.run(name, args)
  if (code !== 0) throw new Error(`ops ${name} ended with ${code}: ${out}${err}`)
}

/** What the restored rows lack of what people did. */
async function countLosses({ db }: Stage, truth: Truth): Promise<[string, string][]> {
  const references = truth.withdrawals.flatMap(({ reference }) => reference ?? [])
  const rows: [string, string][] = []
  for (const [name, table, column, ids] of [
    ['withdrawals', 'withdrawals', 'reference', references],
    ['crypto tips', 'tips', 'id', [...truth.landed.keys()]],
    ['naira tips', 'fiat_intents', 'id', [...truth.naira.keys()]],
  ] as const) {
    const here = await db(table).whereIn(column, [...ids])
    rows.push([`lost of ${ids.length} ${name}`, String(ids.length - here.length)])
  }
  return rows
}

/** Requests to the bank for transfers, and micro-USDC in custody: no tip arrives meanwhile. */
function sentBy({ sandbox: { fiatpay, chain }, creators }: Stage): string {
  const requests = Object.values(fiatpay.sendings.all()).reduce((sum, count) => sum + count, 0)
  const custody = creators.reduce((sum, { wallet }) => sum + usdcOf(chain, wallet), 0n)
  return `${requests} requests to the bank, ${custody} in custody`
}

/** The whole service runs, and creators ask for money. */
async function watch({ url, creators }: Stage, truth: Truth): Promise<void> {
  await Promise.all(
    creators.map(async (creator) => {
      const answer = await withdrawUntilFinal(url, creator, 1)
      if (answer?.reference !== undefined) truth.withdrawals.push({ ...answer, userId: creator.userId })
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
async function compareAll(stage: Stage, truth: Truth): Promise<Pick<Report, 'rows' | 'faults'>> {
  await recordFees(stage, truth, 1, 0)
  await sweep(stage, 0, 1)
  for (let reads = 1; ; reads++) {
    await settle(stage, truth)
    const sample = await takeSample(stage, truth, await makeReport(stage))
    if (sample.faults.length > 0 && reads < readsMax) continue
    const { faults, payouts } = await checkEverything(stage, truth)
    return {
      rows: [
        ['withdrawals compared', payouts.withdrawals],
        ['executed by the bank', payouts.executed],
        ['creators owe', usdcText(sample.receivables)],
      ],
      faults: [...sample.faults, ...faults],
    }
  }
}
