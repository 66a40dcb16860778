import { setTimeout as pause } from 'node:timers/promises'
import { type Composed, composeRefundReader } from '../../../src/compose.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
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
  mayLandUntil,
  readLastLanding,
} from '../../../src/reserves/after-restore.js'
import { type Adoption, applyAdoption, differencesOf, hashOf, planAdoption } from '../support/adoption.js'
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

/** A blockhash lives for about a minute. */
const landingMs = 5 * 60_000
const pollMs = 1000

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
is sent; exit code 5, and nothing is accepted, when a list or a wallet cannot be read, or what was signed before can still land after
five minutes. Progress is printed to standard error.

Follow the steps in docs/restore.md. --adopt-all shows a plan of everything that can be adopted: whose it is and
how much, and what needs a person. Read it; with --apply and its hash it is done, unless it has changed since. When every difference is
adopted, or settled outside the service, --apply lets everything run again: --confirm is 0, or the hash of what is left. It waits one to two
minutes first, until nothing that was signed before can land. What is older than that moment is looked up at the provider before it is sent.`

async function check(services: Composed, given: Given, order: Order): Promise<Outcome> {
  const { db, transact } = services
  const { apply } = order
  const epoch = await readEpoch(db)
  if (epoch.state === 'known') return { text: describe(epoch), json: { ...present(epoch), applied: false } }
  const refunds = composeRefundReader(services.config)
  const say = createProgress()
  if (apply && given['adopt-all'] !== true) await untilAllLanded(services, say)
  const lost = await compareLostTime({ ...services, refunds }, epoch, (wallets, unknown) =>
    say(`${wallets} custody wallets read, ${unknown} unknown transactions`),
  )
  const differences = differencesOf(services, lost, comparedSince(epoch), given)
  if (given['adopt-all'] === true) return adoptAll(services, await planAdoption(differences), given, order)
  const shown = differences.map(
    ({ subject, text, next }) => `${subject}  ${text}${next === '' ? '' : `  -> ${next}`}`,
  )
  const waiting = await countNeverSent(services)
  const hash = shown.length === 0 ? '0' : hashOf(shown)
  const counts = `${shown.length} differences; ${waiting} withdrawals wait, and are looked up before they are sent`
  const lines = [describe(epoch), ...shown, counts]
  const json = { ...present(epoch), applied: apply, ...lost, waiting }
  if (!apply) {
    const accepts = `--adopt-all plans them together. What is settled outside the service is accepted with --confirm=${hash}`
    lines.push(shown.length === 0 ? applyHint : accepts)
    return { ok: false, text: lines.join('\n'), json: { ...json, hash } }
  }
  order.confirmed('restore-check', hash)
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

/** What was signed in the lost time and lands after the comparison would be missing for ever. */
async function untilAllLanded(services: Composed, say: (text: string) => void): Promise<void> {
  const block = await readLastLanding(services)
  for (const end = performance.now() + landingMs; await mayLandUntil(services, block); await pause(pollMs)) {
    if (performance.now() > end)
      throw new ProviderError(
        'unavailable',
        `block ${block} is not final at every RPC endpoint, so what was signed before can still land: run it again in two minutes`,
      )
    say(`waits for block ${block}: until then what was signed before can land`)
  }
}

async function adoptAll(
  services: Composed,
  adoption: Adoption,
  { confirm }: Given,
  order: Order,
): Promise<Outcome> {
  const { tips, others, left, hash } = adoption
  const steps = [...tips, ...others].map(({ text }) => text)
  const json = { applied: order.apply, steps, left, hash }
  const needsPerson = left.map((line) => `needs a person  ${line}`)
  if (!order.apply) {
    const end = `${steps.length} to adopt, ${left.length} need a person; to adopt: --adopt-all --apply --confirm=${hash} --reason <text>`
    return { ok: false, text: [...steps, ...needsPerson, end].join('\n'), json }
  }
  if (confirm !== hash)
    throw new UnconfirmedError(
      'this is not the plan that you have confirmed: read restore-check --adopt-all again',
    )
  order.requireReason()
  const { count, refused } = await applyAdoption(services, adoption)
  const end = `${count} adopted, ${refused.length} refused, ${left.length} need a person; run restore-check again`
  const text = [...refused.map((line) => `refused  ${line}`), ...needsPerson, end].join('\n')
  return { ok: refused.length === 0, text, json: { ...json, adopted: count, refused } }
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

export const command = await defineCommand(import.meta, {
  usage,
  options,
  run: (given, order) =>
    withServices('ops restore-check', (services) =>
      given.since === undefined ? check(services, given, order) : declare(services, given.since, order),
    ),
})
