import { type Composed, composeRefundReader } from '../../../src/compose.js'
import { neverSentStates } from '../../../src/outgoing/lifecycle.js'
import {
  acceptDatabase,
  type DatabaseEpoch,
  declareRestored,
  readEpoch,
} from '../../../src/platform/database/restore-guard.js'
import {
  comparedSince,
  compareLostTime,
  countDifferences,
  type LostTime,
} from '../../../src/reserves/after-restore.js'
import type { ChainDifference } from '../../../src/reserves/compare-chain.js'
import { applyAdoption, hashOf, planAdoption } from '../support/adoption.js'
import {
  defineCommand,
  defineOptions,
  finalOptions,
  type Outcome,
  pastTime,
  type Values,
} from '../support/command.js'
import { applyHint, type Order, RefusedError, UnconfirmedError } from '../support/order.js'
import { withServices } from '../support/services.js'
import { createProgress } from '../support/text.js'

const options = defineOptions(finalOptions, {
  '--since <time>': 'declares a restore that the server does not show: the rows are as they were then',
  '--adopt-all': 'plans what the commands of all lines would do. verifier and settlement must run',
  '--confirm <hash>':
    'of the plan, or of what is left: 0 for nothing; required with --apply, without --since',
})
type Given = Values<typeof options>

const states = {
  known: 'the database is where it was',
  copied: 'the database is a copy: nothing is sent',
  moved: 'the server has another timeline: nothing is sent',
} as const

/** After a restore: lists what the database has lost, and lets payouts run again. */
const usage = `npm run ops -- restore check
npm run ops -- restore check --adopt-all [--apply --confirm <hash of the plan> --reason <text>]
npm run ops -- restore check --apply --confirm <0, or the hash of what is left> --reason <text>
npm run ops -- restore check --since <time> --apply --reason <text>

A database that was restored knows it: payouts, refunds, sweeps and take-outs send nothing. This compares the provider's lists of
transfers, payments, refunds and disputes, and every custody wallet's transactions on the chain, with the rows, from a day before the
moment to which they were restored, and lists every difference with the command for it. Exit code 4 while there are some, or while nothing
is sent; exit code 5, and nothing is accepted, when a list or a wallet cannot be read. Progress is printed to standard error.

Follow the steps in docs/restore.md. --adopt-all shows a plan of everything that can be adopted: whose it is and
how much, and what needs a person. Read it; with --apply and its hash it is done, unless it has changed since. When every difference is
adopted, or settled outside the service, --apply lets everything run again: --confirm is 0, or the hash of what is left. What is older than
that moment is looked up at the provider before it is sent.`

async function check(services: Composed, given: Given, order: Order): Promise<Outcome> {
  const { db, transact } = services
  const { apply } = order
  const epoch = await readEpoch(db)
  if (epoch.state === 'known') return { text: describe(epoch), json: { ...present(epoch), applied: false } }
  const refunds = composeRefundReader(services.config)
  const say = createProgress()
  const lost = await compareLostTime({ ...services, refunds }, epoch, (wallets, unknown) =>
    say(`${wallets} custody wallets read, ${unknown} unknown transactions`),
  )
  if (given['adopt-all'] === true) return adoptAll(services, lost, comparedSince(epoch), given, order)
  const left = countDifferences(lost)
  const waiting = await countNeverSent(services)
  const json = { ...present(epoch), applied: apply, ...lost, waiting }
  const differences = linesOf(lost, comparedSince(epoch))
  const token = left === 0 ? '0' : hashOf(differences)
  const lines = [
    describe(epoch),
    ...differences,
    `${left} differences; ${waiting} withdrawals wait, and are looked up before they are sent`,
  ]
  if (!apply)
    return {
      ok: false,
      text: [
        ...lines,
        left === 0
          ? applyHint
          : `--adopt-all plans them together. What is settled outside the service is accepted with --confirm=${token}`,
      ].join('\n'),
      json: { ...json, hash: token },
    }
  order.confirmed('restore-check', token)
  await transact(async ({ trx, wake }) => {
    if (!(await acceptDatabase(trx, epoch)))
      throw new RefusedError(
        'somebody has accepted it meanwhile, or another server has taken over: run restore-check again',
      )
    await order.audit(trx, 'restore-check', 'database', { seenAt: epoch.seenAt, ...lost })
    wake('payouts')
  })
  return { text: [...lines, 'accepted: payouts, refunds, sweeps and take-outs run again'].join('\n'), json }
}

async function adoptAll(
  services: Composed,
  lost: LostTime,
  since: Date,
  given: Given,
  order: Order,
): Promise<Outcome> {
  const adoption = await planAdoption(services, lost, since, given)
  const { tips, others, left, hash } = adoption
  const steps = [...tips, ...others].map(({ text }) => text)
  const json = { applied: order.apply, steps, left, hash }
  const needsPerson = left.map((line) => `needs a person  ${line}`)
  if (!order.apply) {
    const end = `${steps.length} to adopt, ${left.length} need a person; to adopt: --adopt-all --apply --confirm=${hash} --reason <text>`
    return { ok: false, text: [...steps, ...needsPerson, end].join('\n'), json }
  }
  if (given.confirm !== hash)
    throw new UnconfirmedError(
      'this is not the plan that you have confirmed: read restore-check --adopt-all again',
    )
  order.requireReason()
  const { count, refused } = await applyAdoption(services, adoption)
  const end = `${count} adopted, ${refused.length} refused, ${left.length} need a person; run restore-check again`
  return {
    ok: refused.length === 0,
    text: [...refused.map((line) => `refused  ${line}`), ...needsPerson, end].join('\n'),
    json: { ...json, adopted: count, refused },
  }
}

async function declare({ transact }: Composed, text: string, order: Order): Promise<Outcome> {
  const since = pastTime('--since', text)
  const line = `the rows are as they were at ${since.toISOString()}: nothing is sent until restore-check is applied`
  const json = { applied: order.apply, seenAt: since }
  if (!order.apply) return { text: `would declare that ${line}; ${applyHint}`, json }
  order.reason()
  await transact(async ({ trx }) => {
    await declareRestored(trx, since)
    await order.audit(trx, 'restore-check declare', 'database', { seenAt: since })
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
  return { state, seenAt, restoredAt }
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
          ? `  -> collections adopt ${/ for ([\w.=-]+)$/.exec(theirs ?? '')?.[1] ?? '<reference>'}`
          : ''
      return `${subject}  ${kind}: ours ${ours ?? 'none'}, the provider's ${theirs ?? 'none'}${next}`
    }),
  ]
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  run: (given, order) =>
    withServices('ops restore-check', (services) =>
      given.since === undefined ? check(services, given, order) : declare(services, given.since, order),
    ),
})
