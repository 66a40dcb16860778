import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'

/**
 * What only a person can decide. `unknown`: nobody can tell whether it was sent; `mismatch`: the provider shows another
 * amount, currency or reference; `reversed`: money came back after completion; `paid_after_failed`: it left after all.
 */
export type ReviewKind = 'unknown' | 'mismatch' | 'reversed' | 'paid_after_failed'

/** Open only until it is clear what became of the withdrawal. */
export const selfClosingKinds: readonly ReviewKind[] = ['unknown', 'mismatch']

export interface NewReview {
  readonly withdrawalId: string
  readonly kind: ReviewKind
  readonly details: Readonly<Record<string, string | number | null>>
}

/**
 * Asks a person to look. False when one of this kind is open for the withdrawal already, or was settled by a person and is
 * no doubt: the provider goes on showing a reversal that has long been dealt with.
 */
export async function openReview({ trx }: Pick<UnitOfWork, 'trx'>, item: NewReview): Promise<boolean> {
  const rows = await query(trx, {
    name: 'reviews.open',
    text: /* sql */ `
      insert into review_items (withdrawal_id, kind, details)
      select $1, $2, $3
      where $2::text = any($4::text[])
        or not exists (select from review_items where withdrawal_id = $1 and kind = $2 and resolved_at is not null)
      on conflict (withdrawal_id, kind) where resolved_at is null do nothing returning id`,
    values: [item.withdrawalId, item.kind, JSON.stringify(item.details), selfClosingKinds],
  })
  return rows.length > 0
}

/** Closes what is open of these kinds. */
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

/** Calls an operator; to be called after the commit. */
export function alarmReview(
  { metrics, log }: Pick<Services, 'metrics' | 'log'>,
  kind: ReviewKind,
  reference: string,
): void {
  metrics.alerts.inc({ kind: `payout_${kind}` })
  log.error({ reference, review: kind }, 'a payout needs an operator: npm run ops -- payouts show')
}
