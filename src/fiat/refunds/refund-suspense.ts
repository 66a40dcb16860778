import { newSuspenseRefundId } from '../../kernel/ids.js'
import { write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderRefund } from '../../ports/refunds.js'
import { giveToRefund, type OpenItem } from '../suspense/suspense.js'

/** What an operator's refund of an item in suspense does. */
export type SuspensePlan =
  /** There is certainly no refund of it. */
  | { readonly kind: 'request' }
  /** Somebody has requested one at the provider: it is followed. */
  | { readonly kind: 'adopt'; readonly found: ProviderRefund }
  | { readonly kind: 'refuse'; readonly reason: string }

/** Pure. `live`: what `listSuspenseRefunds` shows. One of them is never requested again, whoever requested it. */
export function planSuspenseRefund(
  { kobo }: Pick<OpenItem, 'kobo'>,
  live: readonly ProviderRefund[],
): SuspensePlan {
  const [found, ...others] = live
  if (found === undefined) return { kind: 'request' }
  if (others.length > 0 || found.kobo !== kobo)
    return {
      kind: 'refuse',
      reason: 'the provider shows other refunds of this payment. Compare them by hand',
    }
  return { kind: 'adopt', found }
}

/**
 * Begins the refund of a waiting item, in the caller's transaction. The caller has the row's first lease, and sends it; when it does
 * not, the payouts worker does. Returns its id; undefined: the item was taken or resolved meanwhile, or the database was restored.
 */
export async function beginSuspenseRefund(
  { trx }: Pick<UnitOfWork, 'trx'>,
  item: OpenItem,
  order: { readonly by: string; readonly note: string },
  found: ProviderRefund | undefined,
  leaseSeconds: number,
): Promise<string | undefined> {
  const id = newSuspenseRefundId()
  await write(trx, {
    name: 'refunds.of-suspense',
    text: /* sql */ `
      insert into refunds (id, source, request_id, intent_id, provider_transaction, amount_cents, kobo, debit_micro, fee_micro,
        attempts, due_at, provider_id, status, send_state, submitted_at)
      values ($1, 'suspense', $1, $2, $3, 0, $4, 0, 0, 1, clock_timestamp() + $6::float8 * interval '1 second', $5,
        case when $5::text is null then 'pending' else 'submitted' end, case when $5::text is null then 'not_sent' else 'sent' end,
        case when $5::text is not null then clock_timestamp() end)`,
    values: [id, item.intentId, item.transaction, item.kobo, found?.id ?? null, leaseSeconds],
  })
  return (await giveToRefund(trx, item, id, order)) ? id : undefined
}
