import { stepSql } from '../kernel/state-machine.js'
import { type ReviewReason, recreditableKinds } from '../outgoing/decide.js'
import { BaseModel } from '../platform/database/base-model.js'
import { query, write } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { type ReviewState, reviewMachine } from './lifecycle.js'

/** What only a person can decide. `debt`: somebody owes who has had the same bank account or e-mail (send/hold-back.ts). */
export type ReviewKind = ReviewReason | 'debt'

/**
 * Settled by a person. The provider continues to show the fact, which must not open a review again before the provider has
 * shown the opposite.
 */
const settledOnceKinds: readonly ReviewKind[] = [
  ...recreditableKinds,
  'paid_after_failed',
  'paid_after_recredit',
]

export interface NewReview {
  readonly withdrawalId: string
  readonly kind: ReviewKind
  readonly details: Readonly<Record<string, string | number | null>>
}

/** A case of a withdrawal that waits for a person, or was settled. */
export class Review extends BaseModel {
  static override tableName = 'review_items'
  static override jsonAttributes = ['details']
  declare id: bigint
  declare withdrawalId: string
  declare kind: NewReview['kind']
  /** What the provider showed when it was opened. */
  declare details: NewReview['details']
  declare createdAt: Date
  declare resolvedAt: Date | null
  declare resolution: string | null
  /** The provider has shown the opposite since, so that the same fact opens a new review. */
  declare outdatedAt: Date | null
}

/** Opens a review. False when one of this kind is open already, or a person has settled this fact. */
export async function openReview({ trx }: Pick<UnitOfWork, 'trx'>, item: NewReview): Promise<boolean> {
  const rows = await query(trx, {
    name: 'reviews.open',
    text: /* sql */ `
      insert into review_items (withdrawal_id, kind, details)
      select $1, $2, $3
      where $2::text <> all($4::text[])
        or not exists (select from review_items
          where withdrawal_id = $1 and kind = $2 and resolved_at is not null and outdated_at is null)
      on conflict (withdrawal_id, kind) where resolved_at is null do nothing returning id`,
    values: [item.withdrawalId, item.kind, JSON.stringify(item.details), settledOnceKinds],
  })
  return rows.length > 0
}

const sets: Readonly<Record<ReviewState, string>> = {
  open: 'resolved_at = null, resolution = $1',
  closed: 'resolved_at = now(), resolution = $1',
  outdated: `outdated_at = clock_timestamp(), resolved_at = coalesce(resolved_at, clock_timestamp()),
    resolution = coalesce(resolution, $1)`,
}

/** Every change of the state of reviews. `$1` is the resolution, `where` has its parameters from $2 on. */
async function advanceReviews(
  { trx }: Pick<UnitOfWork, 'trx'>,
  to: ReviewState,
  resolution: string | null,
  where: string,
  values: readonly unknown[],
): Promise<void> {
  const { from } = stepSql(reviewMachine, to)
  await write(trx, {
    name: `reviews.${to}`,
    text: `update review_items set ${sets[to]} where ${from} and ${where}`,
    values: [resolution, ...values],
  })
}

export async function closeReviews(
  uow: Pick<UnitOfWork, 'trx'>,
  withdrawalId: string,
  kinds: readonly ReviewKind[],
  resolution: string,
): Promise<void> {
  const where = 'withdrawal_id = $2 and kind = any($3::text[])'
  await advanceReviews(uow, 'closed', resolution, where, [withdrawalId, kinds])
}

/**
 * The provider shows the opposite of what these reviews are about. Closed ones no longer prevent a new one. An open
 * one closes only when nobody has lost anything: the money of a completed withdrawal is paid again.
 */
export async function outdateReviews(
  uow: Pick<UnitOfWork, 'trx'>,
  withdrawalId: string,
  kinds: readonly ReviewKind[],
  resolution: string,
): Promise<void> {
  const where = /* sql */ `withdrawal_id = $2 and kind = any($3::text[])
    and (resolved_at is not null or kind = any($4::text[]))`
  await advanceReviews(uow, 'outdated', resolution, where, [withdrawalId, kinds, recreditableKinds])
}

/** Opens closed reviews again. They keep the time at which the fact was first seen. */
export async function reopenReviews(uow: Pick<UnitOfWork, 'trx'>, ids: readonly bigint[]): Promise<void> {
  await advanceReviews(uow, 'open', null, 'id = any($2::bigint[])', [ids])
}

/** Whether the creator may be credited again while one of this kind is open. */
export function isRecreditable(kind: ReviewKind): boolean {
  return kind !== 'debt' && recreditableKinds.includes(kind)
}
