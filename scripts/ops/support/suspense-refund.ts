import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { type Composed, composeRefunds } from '../../../src/compose.js'
import {
  decideRefund,
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
import { findSuspense, type RefundItem } from '../../../src/fiat/suspense/suspense.js'
import { nairaText } from '../../../src/kernel/money.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { isDatabaseKnown } from '../../../src/platform/database/restore-guard.js'
import type { ProviderRefund, Refunds } from '../../../src/ports/refunds.js'
import {
  actorOf,
  describeChange,
  type finalOptions,
  type Outcome,
  RefusedError,
  requireConfirmation,
  type Values,
} from './command.js'
import { recordAudit } from './record-audit.js'

/** How long a refund is followed. The provider often needs longer. */
const followMs = 5000
const pollMs = 500

/** Plans a refund, or takes the next step of it. */
export async function refundSuspense(
  services: Composed,
  transaction: string,
  given: Values<typeof finalOptions>,
): Promise<Outcome> {
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

export function waitText(seconds: number): string {
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
    if (taken === undefined && !(await isDatabaseKnown(trx)))
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

/** Throws RefusedError. */
export async function findWaiting(db: Knex, transaction: string): Promise<RefundItem> {
  const item = await findSuspense(db, transaction)
  if (item === undefined) throw new RefusedError(`payment ${transaction} is not waiting in suspense`)
  return item
}

/** A lost dispute takes the money from us a second time. */
export function requireUndisputed({ transaction, isDisputed }: RefundItem): void {
  if (isDisputed)
    throw new RefusedError(`payment ${transaction} is disputed: wait for its end, npm run ops -- disputes`)
}
