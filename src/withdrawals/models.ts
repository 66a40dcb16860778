import { BaseModel } from '../platform/database/base-model.js'
import type { NewReview } from './review/review.js'

/** A case of a withdrawal that waits for a person, or was settled. review/review.ts opens, closes and outdates it. */
export class Review extends BaseModel {
  static override tableName = 'review_items'
  static override jsonAttributes = ['details']
  declare id: bigint
  declare withdrawalId: string
  declare kind: NewReview['kind']
  /** What the provider showed when it was opened. */
  declare details: NewReview['details']
  declare createdAt: Date
  /** Null: open. */
  declare resolvedAt: Date | null
  declare resolution: string | null
  /** The provider has shown the opposite since, so that the same fact opens a new review. */
  declare outdatedAt: Date | null
}
