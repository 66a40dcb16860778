import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { type Composed, composeRefunds } from '../../../src/compose.js'
import { listRefundsOf, listSuspenseRefunds } from '../../../src/fiat/provider-refunds.js'
import { findRefund, type Refund } from '../../../src/fiat/refunds/refund.js'
import { sendingRefundKind } from '../../../src/fiat/refunds/refund-kind.js'
import {
  beginSuspenseRefund,
  planSuspenseRefund,
  type SuspensePlan,
} from '../../../src/fiat/refunds/refund-suspense.js'
import { decideAction, resolveRefund } from '../../../src/fiat/refunds/resolve-refund.js'
import { findSuspense, type OpenItem } from '../../../src/fiat/suspense/suspense.js'
import { nairaText } from '../../../src/kernel/money.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { followRow } from '../../../src/outgoing/follow.js'
import type { SendingKind } from '../../../src/outgoing/kind.js'
import { hasEnded, sendableStates } from '../../../src/outgoing/lifecycle.js'
import { sendRow } from '../../../src/outgoing/send.js'
import { isDatabaseKnown } from '../../../src/platform/database/restore-guard.js'
import type { ProviderRefund } from '../../../src/ports/refunds.js'
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

type Kind = SendingKind<Refund, Refund>
interface Order {
  readonly by: string
  readonly note: string
}

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
  const reader = composeRefunds(services.config)
  const plan: SuspensePlan | undefined =
    item.state === 'waiting' ? planSuspenseRefund(item, await listSuspenseRefunds(reader, item)) : undefined
  if (plan?.kind === 'refuse') throw new RefusedError(plan.reason)
  if (!apply) {
    const line = `${nairaText(item.kobo)} of payment ${transaction}: ${planOf(plan)}`
    const json = { applied: false, transaction, kobo: String(item.kobo) }
    return { text: describeChange(line, 'refunded', false), json }
  }
  const kind = sendingRefundKind(services, reader)
  const order = { by: actorOf(given), note }
  const begun =
    plan === undefined
      ? item.refundId
      : await begin(services, item, order, plan.kind === 'adopt' ? plan.found : undefined)
  const refund = await readRefund(services.db, begun ?? '')
  if (plan === undefined && sendableStates.every((state) => state !== refund.sendState))
    await sendAgain(services, kind, refund, await listRefundsOf(reader, refund), order)
  return present(item, await work(services, kind, refund.id))
}

function planOf(plan: SuspensePlan | undefined): string {
  if (plan === undefined) return 'is being refunded; --apply shows how it stands'
  return plan.kind === 'adopt'
    ? `the provider shows the refund ${plan.found.id} ${plan.found.state}`
    : 'would be returned to the payer'
}

/** Committed before the provider is asked. Of two operators one is too late. */
async function begin(
  { transact, config }: Composed,
  item: OpenItem,
  order: Order,
  found: ProviderRefund | undefined,
): Promise<string> {
  const { transaction, kobo } = item
  return transact(async ({ trx }) => {
    const id = await beginSuspenseRefund({ trx }, item, order, found, config.payouts.leaseSeconds)
    if (id === undefined && !(await isDatabaseKnown(trx)))
      throw new RefusedError('the database was restored: nothing is refunded until restore-check is applied')
    if (id === undefined) throw new RefusedError(`payment ${transaction} was taken or resolved meanwhile`)
    await recordAudit(trx, {
      actor: order.by,
      action: 'suspense refund',
      subject: `payment:${transaction}`,
      details: { note: order.note, kobo: String(kobo), refund: id },
    })
    return id
  })
}

/** Has it sent once more when the provider had the time to show it and does not. Otherwise it is only followed. */
async function sendAgain(
  services: Composed,
  kind: Kind,
  refund: Refund,
  shown: readonly ProviderRefund[],
  { by, note }: Order,
): Promise<void> {
  const step = decideAction('retry', refund, shown, services.config.payouts.settleSeconds)
  if (step.kind === 'wait')
    throw new ProviderError(
      'unavailable',
      `a request may be on its way and the provider may still show it: run this again in ${step.seconds} s`,
    )
  if (step.kind === 'refuse') return
  await services.transact(async (uow) => {
    if (!(await resolveRefund(uow, kind, refund, 'retry')))
      throw new RefusedError(`payment ${refund.transaction} was taken or resolved meanwhile`)
    await recordAudit(uow.trx, {
      actor: by,
      action: 'refund retry',
      subject: `refund:${refund.id}`,
      details: { note, kobo: String(refund.kobo), transaction: refund.transaction },
    })
  })
}

/** Sends it and follows it for a short time, as the worker does. Whatever the worker does meanwhile counts. */
async function work(services: Composed, kind: Kind, id: string): Promise<Refund> {
  for (const until = Date.now() + followMs; ; await sleep(pollMs)) {
    const refund = await readRefund(services.db, id)
    if (sendableStates.includes(refund.sendState)) await sendRow(services, kind, refund)
    else if (!hasEnded(refund.status)) await followRow(services, kind, refund)
    const now = await readRefund(services.db, id)
    if (hasEnded(now.status) || now.status === 'pending' || Date.now() > until) return now
  }
}

async function readRefund(db: Knex, id: string): Promise<Refund> {
  const refund = await findRefund(db, id)
  if (refund === undefined) throw new Error(`there is no refund ${id}`)
  return refund
}

/** Throws RefusedError when it certainly was not refunded, ProviderError when that is not known. */
function present({ kobo, transaction }: OpenItem, refund: Refund): Outcome {
  const { status, sendState, providerId, failureReason, lastError } = refund
  const line = `${nairaText(kobo)} of payment ${transaction}`
  if (status === 'failed') throw new RefusedError(`${line} waits again: ${failureReason}`)
  if (status === 'pending')
    throw new ProviderError(
      'ambiguous',
      `${line} may be refunded: ${lastError ?? sendState}. Run this again later`,
    )
  const done = status === 'completed'
  return {
    ok: done,
    text: done
      ? `${line}: returned, refund ${providerId}`
      : `${line}: the provider shows the refund ${providerId} ${status}. Run this again later`,
    json: {
      applied: true,
      transaction,
      kobo: String(kobo),
      refund: providerId,
      state: done ? 'paid' : 'started',
    },
  }
}

/** Throws RefusedError. */
export async function findWaiting(db: Knex, transaction: string): Promise<OpenItem> {
  const item = await findSuspense(db, transaction)
  if (item === undefined) throw new RefusedError(`payment ${transaction} is not waiting in suspense`)
  return item
}

/** A lost dispute takes the money from us a second time. */
export function requireUndisputed({ transaction, isDisputed }: OpenItem): void {
  if (isDisputed)
    throw new RefusedError(`payment ${transaction} is disputed: wait for its end, npm run ops -- disputes`)
}
