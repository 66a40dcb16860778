import type { Composed } from '../../../src/compose.js'
import type { ProviderTransfer } from '../../../src/ports/payouts.js'
import { providerRules } from '../../../src/withdrawals/reconcile/decide.js'
import {
  applyAction,
  checkAction,
  lockForReview,
  type OperatorAction,
  type Permission,
} from '../../../src/withdrawals/review/operator-actions.js'
import { audit } from './audit.js'
import { CannotDo } from './command.js'
import { type PayoutRow, payoutOf } from './payout-rows.js'

/** What became of one withdrawal. `told`: what is done, or would be, or why it is refused. */
export interface ActionResult {
  readonly reference: string
  readonly done: boolean
  readonly told: string
}

export interface Order {
  readonly deed: OperatorAction
  readonly actor: string
  readonly reason: string
  readonly apply: boolean
}

/** These never left, or nothing of the provider's matters: everything else is asked about first. */
const withoutAsking = new Set<OperatorAction>(['release', 'close'])

/**
 * Does one deed, or tells what it would be. The provider is asked first, the answer judged again under the withdrawal's lock,
 * and the deed written down in the same transaction: two operators at once do it once. Throws ProviderError, CannotDo.
 */
export async function runAction(services: Composed, reference: string, order: Order): Promise<ActionResult> {
  const row = await payoutOf(services.db, reference)
  const found = withoutAsking.has(order.deed) ? undefined : await services.payouts.find(row.providerReference)
  const permission = await decide(services, row, found, order)
  if ('refused' in permission) return { reference, done: false, told: `not done: ${permission.refused}` }
  return { reference, done: true, told: permission.done }
}

function decide(
  services: Composed,
  { id, reference }: PayoutRow,
  found: ProviderTransfer | undefined,
  { deed, actor, reason, apply }: Order,
): Promise<Permission> {
  const rules = providerRules(services)
  return services.transact(async (uow) => {
    const looked = await lockForReview(uow, id, found)
    if (looked === undefined) throw new CannotDo(`there is no withdrawal ${reference}`)
    const permission = checkAction(deed, looked, rules)
    if ('refused' in permission || !apply) return permission
    await applyAction(uow, deed, looked, reason)
    const { status, sendState, sends } = looked.withdrawal
    const before = { status, sendState, sends, provider: found?.state ?? 'not found' }
    const details = { reason, before, done: permission.done }
    await audit(uow.trx, { actor, action: `payouts ${deed}`, subject: `payout:${reference}`, details })
    return permission
  })
}
