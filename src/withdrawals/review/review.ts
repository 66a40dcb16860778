import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'

/**
 * What only a person can decide (docs/decisions/0020).
 * - `unknown`: it is not known whether the payout was executed
 * - `mismatch`: the provider shows another amount, currency or reference
 * - `reversed`: the money came back after completion
 * - `paid_after_failed`: the provider paid after the creator got the money back
 */
export type ReviewKind = 'unknown' | 'mismatch' | 'reversed' | 'paid_after_failed'

/** Closed automatically when the provider shows the outcome. They may open again. */
export const selfClosingKinds: readonly ReviewKind[] = ['unknown', 'mismatch']

/** Settled by a person once and for good. The provider continues to show the fact, which must not open a review again. */
export const settledOnceKinds: readonly ReviewKind[] = ['reversed', 'paid_after_failed']

export interface NewReview {
  readonly withdrawalId: string
  readonly kind: ReviewKind
  readonly details: Readonly<Record<string, string | number | null>>
}

/** Opens a review. False when one of this kind is open already, or a person has settled one of a kind that is settled once. */
export async function openReview({ trx }: Pick<UnitOfWork, 'trx'>, item: NewReview): Promise<boolean> {
  const rows = await query(trx, {
    name: 'reviews.open',
    text: /* sql */ `
      insert into review_items (withdrawal_id, kind, details)
      select $1, $2, $3
      where $2::text <> all($4::text[])
        or not exists (select from review_items where withdrawal_id = $1 and kind = $2 and resolved_at is not null)
      on conflict (withdrawal_id, kind) where resolved_at is null do nothing returning id`,
    values: [item.withdrawalId, item.kind, JSON.stringify(item.details), settledOnceKinds],
  })
  return rows.length > 0
}

/** Closes the open reviews of these kinds. */
export async function closeReviews(
  { trx }: Pick<UnitOfWork, 'trx'>,
  withdrawalId: string,
  kinds: readonly ReviewKind[],
  resolution: string,
): Promise<void> {
  await query(trx, {
    name: 'reviews.close',
    text: /* sql */ `
      update review_items set resolved_at = clock_timestamp(), resolution = $3
      where withdrawal_id = $1 and kind = any($2::text[]) and resolved_at is null`,
    values: [withdrawalId, kinds, resolution],
  })
}

/** Alarms an operator. Call it after the commit. */
export function alarmReview(
  { metrics, log }: Pick<Services, 'metrics' | 'log'>,
  kind: ReviewKind,
  reference: string,
): void {
  metrics.alerts.inc({ kind: `payout_${kind}` })
  log.error(
    { reference, review: kind },
    'a payout needs an operator. Run: npm run ops -- payouts show <reference>',
  )
}
