import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { withdrawUntilFinal } from '../kit/client.js'
import { withClosing } from '../kit/closing.js'
import { DebianPostgres, folderForServer } from '../kit/debian-postgres.js'
import { type Report, sortedRows } from '../kit/report.js'
import { startRedis } from '../kit/servers.js'
import type { ActName } from './world/acts.js'
import { compareBooks } from './world/compare-books.js'
import { usdcOf } from './world/compare-moves.js'
import { Crowd, mixed } from './world/crowd.js'
import { checkEverything } from './world/final-check.js'
import { recordBeginning, recordFees, sweep } from './world/operator.js'
import { makeDue, settle } from './world/settle.js'
import { openStage, type Stage } from './world/stage.js'
import { emptyTruth, type Truth } from './world/truth.js'

interface DrillPlan {
  readonly seed: number
  readonly payouts: number
  readonly report: (text: string) => void
}

const creatorCount = 8
const concurrency = 6
/** Everything starts at once, and each worker has looked for work several times. */
const watchMs = 10_000
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
    const rows: [string, string | number][] = []
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
    const first = await startServer('first')
    rows.push(['server', first.version])
    await migrateToLatest(first.url)
    const redisUrl = await startRedis(folder, defer)
    const urls = { databaseUrl: first.url, redisUrl, namespace: `restore-${seed}` }
    const stage = await openStage(defer, urls, seed, { creators: creatorCount, bank })
    await recordBeginning(stage)
    const truth = emptyTruth()
    const share = (part: number): number => Math.max(2, Math.round(payouts * part))
    const live = (part: number, counts: Partial<Record<ActName, number>>): Promise<void> => {
      const partSeed = seed + part * 100_000
      const names = mixed(counts, partSeed)
      return new Crowd({ stage, truth, seed: partSeed, concurrency, next: (n) => names[n] }).ended
    }
    await timed('before the backup', async () => {
      await live(1, { crypto: share(0.5), naira: share(0.2) })
      await settle(stage, truth)
    })
    const underLoad = { crypto: share(0.2), naira: share(0.1), withdrawSome: share(0.3), take: 2 }
    const loaded = live(2, underLoad)
    const file = join(folder, 'backup.dump')
    await timed('ops backup under load', async () => {
      const { code, out, err } = await stage.commands.run('backup', ['--out', file])
      if (code !== 0) throw new Error(`ops backup ended with ${code}: ${out}${err}`)
    })
    rows.push(['size of the backup', `${(statSync(file).size / 1e6).toFixed(1)} MB`])
    await loaded
    // Payouts, tips, take-outs and a sweep that no backup has.
    const lost = { crypto: share(0.15), naira: share(0.05), withdrawSome: Math.ceil(payouts / 2), take: 3 }
    await timed('what is lost', async () => {
      await live(3, lost)
      await sweep(stage)
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
    await timed('watched: nothing is sent', () => watch(restored, truth))
    const adopted = await timed('restore-check --adopt-all', async () => {
      await requireRefusal(restored)
      return adoptAll(restored, truth, report)
    })
    const atEnd = sentBy(restored)
    await accept(restored)
    await timed('until nothing is under way', () => settle(restored, truth))
    await recordFees(restored, truth, 1)
    await sweep(restored)
    const books = await compareBooks(restored, truth)
    const final = await checkEverything(restored, truth)
    return {
      rows: [...rows, ['adopted', adopted], ...sortedRows(final.counts), ...books.rows],
      faults: [
        ...(before === atEnd ? [] : [`sent before the restore was accepted: from ${before} to ${atEnd}`]),
        ...books.faults,
        ...final.faults,
      ],
      kept: 'nothing was sent before the restore was accepted; nobody was paid twice, nobody lost a tip, and the books are what chain and bank have',
    }
  })
}

/** What the restored rows lack of what people did. */
async function countLosses({ db }: Stage, truth: Truth): Promise<[string, number][]> {
  const rows: [string, number][] = []
  for (const [name, table, column, ids] of [
    [
      'withdrawals',
      'withdrawals',
      'reference',
      truth.withdrawals.flatMap(({ reference }) => reference ?? []),
    ],
    ['crypto tips', 'tips', 'id', [...truth.landed.keys()]],
    ['naira tips', 'fiat_intents', 'id', [...truth.naira.keys()]],
  ] as const) {
    const here = await db(table).whereIn(column, [...ids])
    rows.push([`lost of ${ids.length} ${name}`, ids.length - here.length])
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

const roundsMax = 8
const pollMs = 250
const finalSlots = 40
const unavailable = 5
const unconfirmed = 3
const why = ['--reason', 'drill', '--as', 'operator']

/**
 * Adopts what `restore-check --adopt-all` plans until nothing is left. The operator knows nothing else but what people tell. Returns how
 * much was adopted. Throws when something needs more than that, or a difference does not go away.
 */
async function adoptAll(stage: Stage, truth: Truth, report: (text: string) => void): Promise<number> {
  let adopted = 0
  for (let rounds = 1; rounds <= roundsMax; rounds++) {
    const plan = await run(stage, ['restore-check', '--adopt-all', '--json'])
    const { steps, left, hash }: { steps: string[]; left: string[]; hash: string } = JSON.parse(plan.out)
    report(`restore-check: ${steps.length} to adopt, ${left.length} for a person`)
    if (steps.length + left.length === 0) return adopted
    const all = ['restore-check', '--adopt-all', '--apply', '--confirm', hash, '--json', ...why]
    const answer = await whileCredited(stage, truth, run(stage, all))
    // Settlement may have credited something meanwhile: then there is another plan.
    if (answer.code === unconfirmed) continue
    adopted += Number(JSON.parse(answer.out).adopted)
    for (const line of left) if (await adoptNamed(stage, truth, line)) adopted += 1
  }
  const { out } = await run(stage, ['restore-check'])
  throw new Error(`differences are left after ${roundsMax} rounds: ${out}`)
}

async function accept(stage: Stage): Promise<void> {
  const { code, out, err } = await run(stage, ['restore-check', '--apply', '--confirm', '0', ...why])
  if (code !== 0) throw new Error(`it was not accepted: ${out}${err}`)
}

/** Adopts what only lacks its creator: whose withdrawal and whose tip it was, people outside can tell. */
async function adoptNamed(stage: Stage, truth: Truth, line: string): Promise<boolean> {
  const subject = /^(\S+): /.exec(line)?.[1] ?? ''
  if (!line.includes('--creator')) throw new Error(`restore-check leaves to a person: ${line}`)
  const isPayout = subject === subject.toUpperCase()
  const told = isPayout
    ? truth.withdrawals.find(({ reference }) => reference === subject)
    : truth.naira.get(subject.replace('-', '_'))
  const whose = ['--creator', told?.userId ?? 'nobody', '--apply', '--confirm', subject, ...why]
  const { code } = await run(stage, [isPayout ? 'payouts' : 'collections', 'adopt', subject, ...whose])
  return code === 0
}

async function run(stage: Stage, [name = '', ...args]: readonly string[]) {
  for (;;) {
    const answer = await stage.commands.run(name, args)
    if (answer.code !== unavailable) return answer
    await sleep(pollMs)
  }
}

/** While a command waits for verifier and settlement, time passes for them. */
async function whileCredited<Answer>(
  { db, sandbox: { chain } }: Stage,
  { landed }: Truth,
  command: Promise<Answer>,
): Promise<Answer> {
  let ended = false
  const answer = command.finally(() => {
    ended = true
  })
  while (!ended) {
    chain.advance(finalSlots)
    await makeDue(db, 'tips', 'finalized_at is null and id = any(?::text[])', [[...landed.keys()]])
    const unpaid = 'not exists (select from fiat_payments where intent_id = fiat_intents.id)'
    await makeDue(db, 'fiat_intents', unpaid)
    await sleep(pollMs)
  }
  return answer
}
