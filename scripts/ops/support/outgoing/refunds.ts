import type { Knex } from 'knex'
import { type Composed, composeRefundReader } from '../../../../src/compose.js'
import { listRefundsOf, type RefundReader } from '../../../../src/fiat/provider-refunds.js'
import { attentionText, findRefund, listRefundsIn, type Refund } from '../../../../src/fiat/refunds/refund.js'
import { oursOf, refundKind } from '../../../../src/fiat/refunds/refund-kind.js'
import {
  decideAction,
  type RefundAction,
  resolveRefund,
} from '../../../../src/fiat/refunds/resolve-refund.js'
import { nairaText, usdcText } from '../../../../src/kernel/money.js'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { hasEnded } from '../../../../src/outgoing/lifecycle.js'
import { query } from '../../../../src/platform/database/database.js'
import { onlyArgument } from '../command.js'
import { type Order, RefusedError } from '../order.js'
import type { Listed, ListedKind } from './kind.js'

const done: Readonly<Record<RefundAction, string>> = {
  retry: 'sent once more',
  'give-back': 'given back to the creator',
  returned: 'recorded as returned',
}

export const refunds: ListedKind<RefundAction, Pick<Composed, 'db'>> = {
  ids: 'the id of a refund',
  plural: 'refunds',
  one: 'refund',
  secrets: 'ops refunds',
  actions: ['retry', 'give-back', 'returned'],
  isId: (text) => /^(refund|suspense)_[0-9a-f]{32}$/.test(text),
  list: async ({ db }, filter) => (await listRefundsIn(db, filter)).map(listed),
  async show({ db }, id) {
    const { line, json } = listed(await readRefund(db, id))
    const history = await query<{ at: Date; what: string }>(db, {
      name: 'ops.refund-history',
      text: `select at, action || ' by ' || actor || ' ' || details::text as what from audit_log where subject = $1 order by at`,
      values: [`refund:${id}`],
    })
    const lines = history.map(({ at, what }) => `  ${at.toISOString()}  ${what}`)
    return { text: [line, ...lines].join('\n'), json: { refund: json, history } }
  },
  async act(services, action, ids, order) {
    const id = onlyArgument(ids, 'refund')
    order.confirmed(`--${action}`, id)
    const refund = await readRefund(services.db, id)
    await decideRefund(services, composeRefundReader(services.config), refund, action, order)
    const text = order.tell(`${nairaText(refund.kobo)} of refund ${id}`, done[action])
    return { text, json: { applied: order.apply, ...listed(refund).json } }
  },
}

/**
 * Plans or takes a decision about a refund, as the provider shows it now. Throws RefusedError when it is not allowed, ProviderError while
 * the provider may still show a request.
 */
export async function decideRefund(
  services: Composed,
  reader: RefundReader,
  refund: Refund,
  action: RefundAction,
  order: Order,
): Promise<void> {
  const { id, kobo, transaction } = refund
  const isNew = refund.sendState === 'not_sent' && !refund.looksUp
  const shown = isNew ? [] : await listRefundsOf(reader, refund)
  const step = decideAction(action, refund, shown, services.config.payouts.settleSeconds)
  if (step.kind === 'refuse') throw new RefusedError(`refund ${id}: ${step.reason}`)
  if (step.kind === 'wait')
    throw new ProviderError(
      'unavailable',
      `the request of ${id} may be on its way and the provider may still show it: run this again in ${step.seconds} s`,
    )
  if (!order.apply) return
  const state = stateOf(refund)
  const paidId = refund.providerId ?? oursOf(refund, shown).find((one) => one.state === 'paid')?.id ?? null
  await services.transact(async (uow) => {
    if (!(await resolveRefund(uow, refundKind(services, reader), refund, action, paidId)))
      throw new RefusedError(`refund ${id} has changed meanwhile`)
    await order.audit(uow.trx, `refund ${action}`, `refund:${id}`, { state, kobo, transaction })
  })
}

/** Throws RefusedError when there is none. */
export async function readRefund(db: Knex, id: string): Promise<Refund> {
  const refund = await findRefund(db, id)
  if (refund === undefined) throw new RefusedError(`there is no refund ${id}`)
  return refund
}

function listed(refund: Refund): Listed {
  const { id, intentId, transaction, kobo, debitMicro, lastError, createdAt } = refund
  const state = stateOf(refund)
  const amounts = `${nairaText(kobo)} for ${usdcText(debitMicro)}`
  const error = lastError === null ? '' : `: ${lastError}`
  return {
    line: `${createdAt.toISOString()}  ${id}  ${amounts}  payment ${transaction}  ${intentId}  ${state}${error}`,
    json: { id, intentId, transaction, kobo, debitMicro, state, lastError, createdAt },
    createdAt,
    waitsForPerson: refund.waitsForPerson,
  }
}

/** Its state in the words that scripts know. What may or may not have been sent is `sending` until the provider shows it. */
function stateOf({ status, sendState, lastError }: Refund): string {
  if (hasEnded(status)) return status === 'completed' ? 'paid' : 'failed'
  if (sendState === 'not_sent') return sendState
  if (sendState !== 'sent') return 'sending'
  return lastError === attentionText ? 'attention' : 'sent'
}
