import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { type Composed, composeRefunds } from '../../../../src/compose.js'
import { listSuspenseRefunds } from '../../../../src/fiat/provider-refunds.js'
import type { Refund } from '../../../../src/fiat/refunds/refund.js'
import { sendingRefundKind } from '../../../../src/fiat/refunds/refund-kind.js'
import { beginSuspenseRefund, planSuspenseRefund } from '../../../../src/fiat/refunds/refund-suspense.js'
import {
  findOpenItems,
  type OpenItem,
  resolveSuspense,
  type SuspenseItem,
} from '../../../../src/fiat/suspense/suspense.js'
import { nairaText } from '../../../../src/kernel/money.js'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { followRow } from '../../../../src/outgoing/follow.js'
import { hasEnded, sendableStates } from '../../../../src/outgoing/lifecycle.js'
import { sendRow } from '../../../../src/outgoing/send.js'
import { isDatabaseKnown } from '../../../../src/platform/database/restore-guard.js'
import type { UnitOfWork } from '../../../../src/platform/database/transact.js'
import type { ProviderRefund, Refunds } from '../../../../src/ports/refunds.js'
import { type Outcome, onlyArgument } from '../command.js'
import { type Order, RefusedError } from '../order.js'
import type { OperatorKind } from './kind.js'
import { decideRefund, readRefund } from './refunds.js'

/** How long a refund is followed. The provider often needs longer. */
const followMs = 5000
const pollMs = 500

/** Naira payments that wait in suspense: what leaves of them is refunded to the payer. */
export const payments: OperatorKind<'refund' | 'returned'> = {
  ids: "the provider's id of a payment in suspense",
  secrets: 'ops suspense',
  actions: ['refund', 'returned'],
  isId: () => true,
  async show({ db }, transaction) {
    const item = await findWaiting(db, transaction)
    return { text: paymentLine(item), json: { payment: item } }
  },
  async act(services, action, ids, order) {
    const transaction = onlyArgument(ids, 'payment')
    return action === 'refund'
      ? refundPayment(services, transaction, order)
      : recordReturn(services, transaction, order)
  },
}

/** A payment in a list. */
export function paymentLine(item: SuspenseItem): string {
  const { transaction, intentId, kobo, reason, paidAt, resolution, note, refundAnswer } = item
  const answer = refundAnswer === null ? '' : `: ${refundAnswer}`
  const state = resolution === null ? `${item.state}${answer}` : `${resolution}: ${note}`
  const amount = nairaText(kobo).padStart(18)
  return `${paidAt.toISOString()}  ${amount}  ${reason.padEnd(10)}  payment ${transaction}  ${intentId}  ${state}`
}

/** Throws RefusedError. */
export async function findWaiting(db: Knex, transaction: string): Promise<OpenItem> {
  const [item] = await findOpenItems(db, transaction)
  if (item === undefined) throw new RefusedError(`payment ${transaction} is not waiting in suspense`)
  return item
}

/** A lost dispute takes the money from us a second time. Throws RefusedError. */
export function requireUndisputed({ transaction, isDisputed }: OpenItem): void {
  if (isDisputed)
    throw new RefusedError(`payment ${transaction} is disputed: wait for its end, npm run ops -- disputes`)
}

/**
 * The refunds of a payment that the provider shows, because the payer must not get the money twice, and not also the creator. Throws
 * RefusedError while it is being refunded.
 */
export async function listLive({ db, config }: Composed, item: OpenItem): Promise<readonly ProviderRefund[]> {
  if (item.state === 'refunding')
    throw new RefusedError(
      `payment ${item.transaction} is being refunded; run --refund again to see how it stands. When the provider does not end it: ` +
        `npm run ops -- refunds --give-back ${item.refundId}, or --returned ${item.refundId}`,
    )
  return listSuspenseRefunds(db, composeRefunds(config), item)
}

/** Throws RefusedError when there is such a refund. */
export function refuseLive({ transaction }: OpenItem, live: ProviderRefund | undefined): void {
  if (live !== undefined)
    throw new RefusedError(
      `the provider shows the refund ${live.id} ${live.state} of payment ${transaction}; run --refund to follow it`,
    )
}

/** Resolves a payment with its line in the audit log. Throws RefusedError when somebody else was faster. */
export async function resolvePayment(
  uow: UnitOfWork,
  item: OpenItem,
  as: 'returned' | 'assigned',
  order: Order,
): Promise<SuspenseItem> {
  const { transaction, kobo } = item
  const resolution = { as, by: order.by, note: order.requireReason() }
  const resolved = await resolveSuspense(uow, item, resolution)
  if (resolved === undefined) throw new RefusedError(`payment ${transaction} was taken or resolved meanwhile`)
  await order.audit(uow.trx, 'suspense', `payment:${transaction}`, { as, kobo })
  return resolved.item
}

/** Records that the payer has the money back in another way. */
async function recordReturn(services: Composed, transaction: string, order: Order): Promise<Outcome> {
  order.reason()
  const item = await findWaiting(services.db, transaction)
  const live = await listLive(services, item)
  refuseLive(
    item,
    live.find((refund) => refund.state !== 'paid'),
  )
  if (order.apply) await services.transact((uow) => resolvePayment(uow, item, 'returned', order))
  return {
    text: order.tell(`${nairaText(item.kobo)} of payment ${transaction}`, 'returned'),
    json: { applied: order.apply, transaction, kobo: item.kobo },
  }
}

/** Plans a refund, or takes the next step of it. */
async function refundPayment(services: Composed, transaction: string, order: Order): Promise<Outcome> {
  order.confirmed('--refund', transaction)
  const item = await findWaiting(services.db, transaction)
  requireUndisputed(item)
  const provider = composeRefunds(services.config)
  const { found, id } =
    item.state === 'waiting'
      ? { found: await findStarted(services.db, provider, item), id: undefined }
      : { found: undefined, id: item.refundId }
  if (!order.apply) {
    const plan = id != null ? 'is being refunded; --apply shows how it stands' : foundText(found)
    return {
      text: order.tell(`${nairaText(item.kobo)} of payment ${transaction}: ${plan}`, 'refunded'),
      json: { applied: false, transaction, kobo: item.kobo },
    }
  }
  const begun = id ?? (await begin(services, item, order, found))
  if (id != null) await sendAgain(services, provider, await readRefund(services.db, id), order)
  return present(item, await work(services, provider, begun))
}

const foundText = (found: ProviderRefund | undefined): string =>
  found === undefined
    ? 'would be returned to the payer'
    : `the provider shows the refund ${found.id} ${found.state}`

/** A refund of it that somebody has requested at the provider. Throws RefusedError when there are others. */
async function findStarted(db: Knex, provider: Refunds, item: OpenItem): Promise<ProviderRefund | undefined> {
  const plan = planSuspenseRefund(item, await listSuspenseRefunds(db, provider, item))
  if (plan.kind === 'refuse') throw new RefusedError(plan.reason)
  return plan.kind === 'adopt' ? plan.found : undefined
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
    const by = { by: order.by, note: order.requireReason() }
    const refund = await beginSuspenseRefund({ trx }, item, by, found, config.payouts.leaseSeconds)
    if (refund === undefined && !(await isDatabaseKnown(trx)))
      throw new RefusedError('the database was restored: nothing is refunded until restore-check is applied')
    if (refund === undefined) throw new RefusedError(`payment ${transaction} was taken or resolved meanwhile`)
    await order.audit(trx, 'suspense refund', `payment:${transaction}`, { kobo, refund })
    return refund
  })
}

/** Has it sent once more when the provider had the time to show it and does not. Otherwise it is only followed. */
async function sendAgain(services: Composed, provider: Refunds, refund: Refund, order: Order): Promise<void> {
  if (sendableStates.includes(refund.sendState)) return
  await decideRefund(services, provider, refund, 'retry', order).catch((error: unknown) => {
    if (!(error instanceof RefusedError)) throw error
  })
}

/** Sends it and follows it for a short time, as the worker does. Whatever the worker does meanwhile counts. */
async function work(services: Composed, provider: Refunds, id: string): Promise<Refund> {
  const kind = sendingRefundKind(services, provider)
  for (const until = Date.now() + followMs; ; await sleep(pollMs)) {
    const refund = await readRefund(services.db, id)
    if (sendableStates.includes(refund.sendState)) await sendRow(services, kind, refund)
    else if (!hasEnded(refund.status)) await followRow(services, kind, refund)
    const now = await readRefund(services.db, id)
    if (hasEnded(now.status) || now.status === 'pending' || Date.now() > until) return now
  }
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
  const ok = status === 'completed'
  return {
    ok,
    text: ok
      ? `${line}: returned, refund ${providerId}`
      : `${line}: the provider shows the refund ${providerId} ${status}. Run this again later`,
    json: { applied: true, transaction, kobo, refund: providerId, state: ok ? 'paid' : 'started' },
  }
}
