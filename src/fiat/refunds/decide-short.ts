import type { Knex } from 'knex'
import { shareUnfrozen } from '../../accounts/account.js'
import { DomainError } from '../../kernel/errors.js'
import { displayNumber, sumOf } from '../../kernel/money.js'
import { isDatabaseKnown } from '../../platform/database/restore-guard.js'
import type { Services } from '../../services.js'
import { tipChannel } from '../../tips/read/present.js'
import { type LockedIntent, lockIntent } from '../settlement/lock-intent.js'
import { queueReceipt } from '../settlement/settle-intent.js'
import { findOpenItems, type OpenItem, resolveSuspense } from '../suspense/suspense.js'
import { beginSuspenseRefund } from './refund-suspense.js'
import { assertNairaTip, isOwnTip } from './request-refund.js'
import type { ShortDecision } from './schemas.js'

type Needs = Pick<Services, 'transact' | 'metrics' | 'config'>

/** Of a short tip its creator decides, or whoever has its status link: its payer. The first decision counts. */
type Decider = 'creator' | 'payer'

/**
 * Credits what arrived of a tip that was paid too little (API: POST /creators/tips/:id/accept-short), at the rate that gives less.
 * `userId`: the creator's. Throws what `lockShort` throws.
 */
export async function acceptShort(
  { transact, metrics, config }: Needs,
  userId: string,
  tipId: string,
  decider: Decider = 'creator',
): Promise<ShortDecision> {
  assertNairaTip(tipId)
  const decided = await transact(async (uow) => {
    const { intent, items } = await lockShort(uow.trx, userId, tipId)
    for (const item of items) {
      const resolution = { as: 'assigned', ...orderOf(decider, userId, 'what arrived is the tip') } as const
      // An operator was faster.
      if ((await resolveSuspense(uow, item, resolution)) === undefined) throw new DomainError('short_decided')
    }
    if (intent.wallet !== null) uow.publish(tipChannel(intent.wallet))
    const [{ paidAt }] = items
    const kobo = sumOf(items, (item) => item.kobo)
    await queueReceipt(uow, config.http, intent, { kobo, paidAt })
    return present('accepted', kobo)
  })
  metrics.tipsConfirmed.inc()
  return decided
}

/**
 * Gives what arrived back to its payer (API: POST /creators/tips/:id/give-back). The payouts worker sends it with the guards of every
 * refund. Throws what `lockShort` throws, and `service_unavailable` while a restored database sends nothing.
 */
export function giveShortBack(
  { transact }: Pick<Needs, 'transact'>,
  userId: string,
  tipId: string,
  decider: Decider = 'creator',
): Promise<ShortDecision> {
  assertNairaTip(tipId)
  return transact(async (uow) => {
    const { items } = await lockShort(uow.trx, userId, tipId)
    const order = orderOf(decider, userId, 'what arrived goes back')
    for (const item of items)
      if ((await beginSuspenseRefund(uow, item, order, undefined, 0)) === undefined)
        throw new DomainError((await isDatabaseKnown(uow.trx)) ? 'short_decided' : 'service_unavailable')
    uow.wake('payouts')
    return present(
      'going_back',
      sumOf(items, (item) => item.kobo),
    )
  })
}

const orderOf = (decider: Decider, userId: string, note: string) => ({
  by: decider === 'creator' ? `creator ${userId}` : 'payer',
  note,
})

function present(decision: ShortDecision['decision'], kobo: bigint): ShortDecision {
  return { decision, amountNGN: displayNumber(kobo, 2) }
}

/**
 * What arrived of an own tip and waits. The lock of the tip lets one of two decisions win. Throws `tip_not_found`, `account_frozen`,
 * `tip_disputed`, and `short_decided` when nothing waits: nothing arrived, or somebody has decided.
 */
async function lockShort(
  trx: Knex.Transaction,
  userId: string,
  tipId: string,
): Promise<{ readonly intent: LockedIntent; readonly items: readonly [OpenItem, ...OpenItem[]] }> {
  await shareUnfrozen(trx, userId)
  if (!(await isOwnTip(trx, userId, tipId))) throw new DomainError('tip_not_found')
  const intent = await lockIntent(trx, tipId)
  // What waits of a paid tip is a surplus, which was not meant for the creator.
  const open = intent.status === 'confirmed' ? [] : await findOpenItems(trx, tipId)
  const [first, ...others] = open.filter(({ state }) => state === 'waiting')
  if (first === undefined) throw new DomainError('short_decided')
  const items = [first, ...others] as const
  if (items.some(({ isDisputed }) => isDisputed)) throw new DomainError('tip_disputed')
  return { intent, items }
}
