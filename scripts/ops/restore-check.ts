import { type Composed, composeRefundReader } from '../../src/compose.js'
import {
  acceptDatabase,
  type DatabaseEpoch,
  declareRestored,
  readEpoch,
} from '../../src/platform/database/restore-guard.js'
import {
  comparedSince,
  compareLostTime,
  countDifferences,
  type LostTime,
} from '../../src/reserves/after-restore.js'
import type { ChainDifference } from '../../src/reserves/compare-chain.js'
import { neverSentStates } from '../../src/withdrawals/lifecycle.js'
import {
  actorOf,
  applyHint,
  defineCommand,
  finalOptions,
  type Outcome,
  optionsHelp,
  RefusedError,
  requireConfirmation,
  requireReason,
  runAsProgram,
  UsageError,
  type Values,
} from './support/command.js'
import { recordAudit } from './support/record-audit.js'
import { withServices } from './support/with-services.js'

const options = { ...finalOptions, since: { type: 'string' } } as const
type Given = Values<typeof options>

const states = {
  known: 'the database is where it was',
  copied: 'the database is a copy: nothing is sent',
  moved: 'the server has another timeline: nothing is sent',
} as const

/** After a restore: lists what the database has lost, and lets payouts run again. */
const help = `npm run ops -- restore-check
npm run ops -- restore-check --apply --confirm <number of differences> --reason <text>
npm run ops -- restore-check --since <time> --apply --reason <text>

A database that was restored knows it: payouts, refunds, sweeps and take-outs send nothing. This compares the provider's lists of
transfers, payments, refunds and disputes, and every custody wallet's transactions on the chain, with the rows, from a day before the
moment to which they were restored, and lists every difference with the command for it. Exit code 4 while there are some, or while nothing
is sent; exit code 5, and nothing is accepted, when a list or a wallet cannot be read. Progress is printed to standard error.

Follow the steps in docs/operations.md, "Backups and restore". When every difference is adopted, or settled outside the service, --apply
lets everything run again: --confirm says how many differences are left, usually 0. What is older than that moment is looked up at the
provider before it is sent.

${optionsHelp(options, {
  '--since <time>':
    'declares a restore that the server does not show: the rows are as they were then, such as\n2026-11-22T08:00:00Z',
  '--confirm <number>': 'how many differences are left; required with --apply, without --since',
})}`

async function check(services: Composed, given: Given): Promise<Outcome> {
  const { db, transact } = services
  const { apply = false } = given
  const epoch = await readEpoch(db)
  if (epoch.state === 'known') return { text: describe(epoch), json: { ...present(epoch), applied: false } }
  const refunds = composeRefundReader(services.config)
  const lost = await compareLostTime({ ...services, refunds }, epoch, (wallets, unknown) =>
    process.stderr.write(`${wallets} custody wallets read, ${unknown} unknown transactions\n`),
  )
  const left = countDifferences(lost)
  const waiting = await countNeverSent(services)
  const json = { ...present(epoch), applied: apply, ...lost, waiting }
  const lines = [
    describe(epoch),
    ...linesOf(lost, comparedSince(epoch)),
    `${left} differences; ${waiting} withdrawals wait, and are looked up before they are sent`,
  ]
  if (!apply)
    return {
      ok: false,
      text: [...lines, left === 0 ? applyHint : 'adopt or settle each, then run this again'].join('\n'),
      json,
    }
  const reason = requireConfirmation('restore-check', String(left), given)
  await transact(async ({ trx, wake }) => {
    if (!(await acceptDatabase(trx, epoch)))
      throw new RefusedError(
        'somebody has accepted it meanwhile, or another server has taken over: run restore-check again',
      )
    await recordAudit(trx, {
      actor: actorOf(given),
      action: 'restore-check',
      subject: 'database',
      details: { reason, seenAt: epoch.seenAt?.toISOString() ?? null, ...lost },
    })
    wake('payouts')
  })
  return { text: [...lines, 'accepted: payouts, refunds, sweeps and take-outs run again'].join('\n'), json }
}

async function declare({ transact }: Composed, text: string, given: Given): Promise<Outcome> {
  const since = new Date(text)
  if (Number.isNaN(since.getTime()) || since > new Date())
    throw new UsageError('--since needs a time in the past')
  const line = `the rows are as they were at ${since.toISOString()}: nothing is sent until restore-check is applied`
  const json = { applied: given.apply === true, seenAt: since.toISOString() }
  if (given.apply !== true) return { text: `would declare that ${line}; ${applyHint}`, json }
  const reason = requireReason(given)
  await transact(async ({ trx }) => {
    await declareRestored(trx, since)
    await recordAudit(trx, {
      actor: actorOf(given),
      action: 'restore-check declare',
      subject: 'database',
      details: { reason, seenAt: since.toISOString() },
    })
  })
  return { text: line, json }
}

async function countNeverSent({ db }: Composed): Promise<number> {
  const [row] = await db('withdrawals')
    .where({ status: 'pending' })
    .whereIn('send_state', neverSentStates)
    .count({ count: '*' })
  return Number(row?.['count'] ?? 0)
}

function describe({ state, seenAt, restoredAt }: DatabaseEpoch): string {
  const seen = `last seen where it was: ${seenAt?.toISOString() ?? 'never'}`
  return `${states[state]}; ${seen}; last restore: ${restoredAt?.toISOString() ?? 'none'}`
}

function present({ state, seenAt, restoredAt }: DatabaseEpoch): Record<string, unknown> {
  return { state, seenAt: seenAt?.toISOString() ?? null, restoredAt: restoredAt?.toISOString() ?? null }
}

/** What to do about what only the chain has. */
const chainCommands: Readonly<Record<ChainDifference['kind'], (subject: string, since: Date) => string>> = {
  payment: (_, since) => `find-uncredited --since ${since.toISOString()} --apply`,
  sweep: (signature) => `sweep --adopt ${signature}`,
  take_out: (signature) => `take-outs --adopt ${signature}`,
  outflow: () => 'no process of ours signs this: a key may be stolen',
  unread: () => 'look it up elsewhere',
}

function linesOf({ transfers, collections, chain }: LostTime, since: Date): string[] {
  return [
    ...chain.map(
      ({ subject, kind, shown }) =>
        `${subject}  ${kind}: ${shown}  -> ${chainCommands[kind](subject, since)}`,
    ),
    ...transfers.map(({ providerReference, kind, ours, theirs }) => {
      const adopts = kind === 'not_ours' || ours === 'pending'
      const next = adopts ? `payouts adopt ${providerReference.toUpperCase()}` : 'payouts show'
      return `${providerReference}  ${kind}: ours ${ours ?? 'none'}, the provider's ${theirs ?? 'none'}  -> ${next}`
    }),
    ...collections.map(({ subject, kind, ours, theirs }) => {
      const next =
        kind === 'not_ours' && subject.startsWith('payment ')
          ? `  -> collections adopt ${/ for ([\w.=-]+)$/.exec(theirs ?? '')?.[1] ?? '<reference>'} --creator <id>`
          : ''
      return `${subject}  ${kind}: ours ${ours ?? 'none'}, the provider's ${theirs ?? 'none'}${next}`
    }),
  ]
}

export const command = defineCommand({
  help,
  options,
  run: (given) =>
    withServices('ops restore-check', (services) =>
      given.since === undefined ? check(services, given) : declare(services, given.since, given),
    ),
})
await runAsProgram(import.meta, command)
