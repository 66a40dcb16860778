import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { type Composed, composeRefunds } from '../../../src/compose.js'
import {
  decideRefund,
  decideResolution,
  followRefund,
  listSuspenseRefundsOf,
  type RefundOrder,
  type RefundOutcome,
  type RefundStep,
  refundFailed,
  requestRefund,
  takeForRefund,
  waitAgain,
} from '../../../src/fiat/suspense/refund.js'
import {
  findSuspense,
  listSuspense,
  type RefundItem,
  resolveSuspense,
  type SuspenseItem,
  type SuspenseResolution,
  sumSuspense,
  valueAssignment,
} from '../../../src/fiat/suspense/suspense.js'
import { nairaText, usdcText } from '../../../src/kernel/money.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { readEpoch } from '../../../src/platform/database/restore-guard.js'
import type { UnitOfWork } from '../../../src/platform/database/transact.js'
import type { ProviderRefund, Refunds } from '../../../src/ports/refunds.js'
import { tipChannel } from '../../../src/tips/confirm/confirm-tips.js'
import {
  actorOf,
  defineCommand,
  describeChange,
  finalOptions,
  givenOption,
  type Outcome,
  optionsHelp,
  RefusedError,
  requireConfirmation,
  requireReason,
  runAsProgram,
  type Values,
} from '../support/command.js'
import { recordAudit } from '../support/record-audit.js'
import { withDatabase } from '../support/with-database.js'
import { withServices } from '../support/with-services.js'

/** Shows naira that could not be credited; returns them to the payer, or credits them to the creator. */
const help = `npm run ops -- suspense [--all]
npm run ops -- suspense --refund <payment> [--apply --confirm <payment> --reason <text>]
npm run ops -- suspense [--returned <payment> | --assign <payment>] [--reason <text>] [--apply]

Lists the payments that could not be credited (too little, too much, paid twice), oldest first, at most 1,000, and compares
their sum with the ledger: exit code 4 while something waits, and when the two differ. One payment can be resolved in one of
three ways:

  --refund asks the provider to return the money to the payer. Nobody can assign it from then on. The books move when the
           provider shows it as returned; the settlement worker follows it to that end. Run it again when the provider is not
           done or gave no answer: it asks the provider's list of refunds before it sends anything again. What the provider
           refuses waits as before.
  --returned records that the payer has the money back in another way. It sends nothing, and refuses while a refund is or may
           be under way at the provider.
  --assign credits the creator for whom the payment was meant, at the locked or the current rate, whichever gives less. The
           tip is completed and shows what was credited.

Without --apply this changes nothing.

${optionsHelp(
  {
    '--all': 'also list resolved payments',
    '--refund <payment>': "the payment's id at the provider, as listed",
    '--returned <payment>': 'the same',
    '--assign <payment>': 'the same',
    '--reason <text>':
      'why, for the audit log, such as a ticket; required with --returned and --assign, and to refund',
    '--confirm <payment>': 'the payment once more; required to refund, because money leaves',
  },
  'kobo and micro-USDC',
)}`

const options = {
  ...finalOptions,
  all: { type: 'boolean' },
  refund: { type: 'string' },
  returned: { type: 'string' },
  assign: { type: 'string' },
} as const

const maxItems = 1000
/** How long a refund is followed. The provider often needs longer. */
const followMs = 5000
const pollMs = 500

type Given = Values<typeof options>

async function list(db: Knex, all: boolean): Promise<Outcome> {
  const [items, sums] = await Promise.all([listSuspense(db, all, maxItems), sumSuspense(db)])
  const balanced = sums.items === sums.ledger
  const ok = balanced && sums.items === 0n
  const total = `waiting: ${nairaText(sums.items)}; in the ledger: ${nairaText(sums.ledger)}`
  return {
    ok,
    text: [...items.map(lineOf), balanced ? total : `${total}: THEY DIFFER`].join('\n'),
    json: {
      items: items.map(({ kobo, ...item }) => ({ ...item, kobo: String(kobo) })),
      waiting: String(sums.items),
      ledger: String(sums.ledger),
    },
  }
}

function lineOf(item: SuspenseItem): string {
  const { transaction, intentId, kobo, reason, paidAt, resolution, note, refundAnswer } = item
  const answer = refundAnswer === null ? '' : `: ${refundAnswer}`
  const state = resolution === null ? `${item.state}${answer}` : `${resolution}: ${note}`
  const amount = nairaText(kobo).padStart(18)
  return `${paidAt.toISOString()}  ${amount}  ${reason.padEnd(10)}  payment ${transaction}  ${intentId}  ${state}`
}

async function resolve(
  services: Composed,
  transaction: string,
  resolution: SuspenseResolution,
  apply: boolean,
): Promise<Outcome> {
  const item = await findWaiting(services.db, transaction)
  if (resolution.as === 'assigned') requireUndisputed(item)
  await requireNoRefund(services, item, resolution)
  const { text, json } =
    resolution.as === 'assigned' ? await planAssignment(services.db, item) : { text: '', json: {} }
  const line = `${nairaText(item.kobo)} of payment ${transaction}${text}`
  if (apply) await resolveAndAudit(services, item, resolution)
  return {
    text: describeChange(line, resolution.as, apply),
    json: { applied: apply, transaction, kobo: String(item.kobo), ...json },
  }
}

/** Asks the provider, because the payer must not get the money twice, and not also the creator. */
async function requireNoRefund(
  { config }: Composed,
  item: RefundItem,
  { as }: SuspenseResolution,
): Promise<void> {
  const known = await listSuspenseRefundsOf(composeRefunds(config), item)
  const step = decideResolution(as, item, known, config.payouts.settleSeconds)
  if (step.kind === 'wait') throw new ProviderError('unavailable', waitText(step.seconds))
  if (step.kind === 'refuse') throw new RefusedError(step.reason)
}

async function findWaiting(db: Knex, transaction: string): Promise<RefundItem> {
  const item = await findSuspense(db, transaction)
  if (item === undefined) throw new RefusedError(`payment ${transaction} is not waiting in suspense`)
  return item
}

/** A lost dispute takes the money from us a second time. */
function requireUndisputed({ transaction, isDisputed }: RefundItem): void {
  if (isDisputed)
    throw new RefusedError(`payment ${transaction} is disputed: wait for its end, npm run ops -- disputes`)
}

/** Which creator would get how much. */
async function planAssignment(db: Knex, item: SuspenseItem) {
  const { intent, creditMicro } = await valueAssignment(db, item)
  return {
    text: `, worth ${usdcText(creditMicro)} to ${intent.creatorName} (${intent.userId})`,
    json: { userId: intent.userId, creditMicro: String(creditMicro) },
  }
}

async function resolveAndAudit(
  { transact }: Composed,
  item: RefundItem,
  resolution: SuspenseResolution,
): Promise<void> {
  const { transaction, kobo } = item
  await transact(async (uow) => {
    const resolved = await resolveSuspense(uow.trx, item, resolution)
    if (resolved === undefined)
      throw new RefusedError(`payment ${transaction} was taken or resolved meanwhile`)
    const wallet = resolution.as === 'assigned' ? await walletOf(uow, resolved) : undefined
    if (wallet !== undefined) uow.publish(tipChannel(wallet))
    await recordAudit(uow.trx, {
      actor: resolution.by,
      action: 'suspense',
      subject: `payment:${transaction}`,
      details: { as: resolution.as, note: resolution.note, kobo: String(kobo) },
    })
  })
}

/** The wallet whose streams show the tip. */
async function walletOf({ trx }: UnitOfWork, { intentId }: SuspenseItem): Promise<string | undefined> {
  const row = await trx('fiat_intents as f')
    .join('wallets as w', 'w.user_id', 'f.user_id')
    .where({ 'f.id': intentId })
    .first('w.public_key as wallet')
  return row?.wallet ?? undefined
}

/** Plans a refund, or takes the next step of it. */
async function refund(services: Composed, transaction: string, given: Given): Promise<Outcome> {
  const { apply = false } = given
  const note = apply ? requireConfirmation('--refund', transaction, given) : ''
  const item = await findWaiting(services.db, transaction)
  requireUndisputed(item)
  const refunds = composeRefunds(services.config)
  const known = await listSuspenseRefundsOf(refunds, item)
  const step = decideRefund(item, known, services.config.payouts.settleSeconds)
  if (step.kind === 'refuse') throw new RefusedError(step.reason)
  const json = { transaction, kobo: String(item.kobo) }
  if (!apply) {
    const line = `${nairaText(item.kobo)} of payment ${transaction}: ${planOf(step)}`
    return { text: describeChange(line, 'refunded', false), json: { applied: false, ...json } }
  }
  const order = { by: actorOf(given), note }
  return present(item, await takeStep(services, refunds, item, known, step, order))
}

function planOf(step: RefundStep): string {
  if (step.kind === 'request') return 'would be returned to the payer'
  if (step.kind === 'follow') return `the provider shows the refund ${step.refund.id} ${step.refund.state}`
  return step.kind === 'wait' ? waitText(step.seconds) : refundFailed
}

function waitText(seconds: number): string {
  return `a request may be on its way and the provider may still show it: run this again in ${seconds} s`
}

/** Also follows for a short time what the provider has started. Throws ProviderError when it is too early for another request. */
async function takeStep(
  services: Composed,
  refunds: Refunds,
  item: RefundItem,
  known: readonly ProviderRefund[],
  step: RefundStep,
  order: RefundOrder,
): Promise<RefundOutcome> {
  if (step.kind === 'wait') throw new ProviderError('unavailable', waitText(step.seconds))
  if (step.kind === 'failed') return waitAgain(services.db, item, refundFailed)
  const isTaken = step.kind === 'follow' && item.state === 'refunding'
  const taken = isTaken ? item : await take(services, item, known, order)
  const outcome =
    step.kind === 'follow'
      ? await followRefund(services, taken, step.refund)
      : await requestRefund(services, refunds, taken, item.state)
  return followOn(services, refunds, taken, outcome)
}

/** Committed before the provider is asked. Of two operators one is too late. Returns the item as taken. */
async function take(
  { transact }: Composed,
  item: RefundItem,
  known: readonly ProviderRefund[],
  order: RefundOrder,
): Promise<RefundItem> {
  const { transaction, kobo } = item
  return transact(async ({ trx }) => {
    const taken = await takeForRefund(trx, item, known, order)
    if (taken === undefined && (await readEpoch(trx)).state !== 'known')
      throw new RefusedError('the database was restored: nothing is refunded until restore-check is applied')
    if (taken === undefined) throw new RefusedError(`payment ${transaction} was taken or resolved meanwhile`)
    await recordAudit(trx, {
      actor: order.by,
      action: 'suspense refund',
      subject: `payment:${transaction}`,
      details: { note: order.note, kobo: String(kobo) },
    })
    return { ...item, ...taken }
  })
}

/** Follows a refund that the provider has started, for a short time. */
async function followOn(
  services: Composed,
  refunds: Refunds,
  item: RefundItem,
  first: RefundOutcome,
): Promise<RefundOutcome> {
  let outcome = first
  for (const until = Date.now() + followMs; Date.now() < until; ) {
    if (outcome.kind !== 'followed' || outcome.refund.state !== 'started') break
    const { id } = outcome.refund
    await sleep(pollMs)
    const shown = (await listSuspenseRefundsOf(refunds, item)).find((one) => one.id === id)
    if (shown !== undefined) outcome = await followRefund(services, item, shown)
  }
  return outcome
}

/** Throws RefusedError when it certainly was not refunded, ProviderError when that is not known. */
function present(item: RefundItem, outcome: RefundOutcome): Outcome {
  const line = `${nairaText(item.kobo)} of payment ${item.transaction}`
  if (outcome.kind === 'refused') throw new RefusedError(`${line} waits again: ${outcome.reason}`)
  if (outcome.kind === 'unknown')
    throw new ProviderError('ambiguous', `${line} may be refunded: ${outcome.reason}. Run this again later`)
  const { refund: shown, done } = outcome
  return {
    ok: done,
    text: done
      ? `${line}: returned, refund ${shown.id}`
      : `${line}: the provider shows the refund ${shown.id} ${shown.state}. Run this again later`,
    json: {
      applied: true,
      transaction: item.transaction,
      kobo: String(item.kobo),
      refund: shown.id,
      state: shown.state,
    },
  }
}

async function run(values: Given): Promise<Outcome> {
  const act = givenOption(values, ['refund', 'returned', 'assign'])
  if (act === undefined) return withDatabase((db) => list(db, values.all ?? false))
  const transaction = values[act] ?? ''
  if (act === 'refund')
    return withServices('ops suspense', (services) => refund(services, transaction, values))
  const as = act === 'assign' ? 'assigned' : 'returned'
  const resolution = { as, by: actorOf(values), note: requireReason(values) } as const
  return withServices('ops suspense', (services) =>
    resolve(services, transaction, resolution, values.apply ?? false),
  )
}

export const command = defineCommand({ help, options, run })
await runAsProgram(import.meta, command)
