import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { isFiatIntentId } from '../../kernel/ids.js'
import { query } from '../../platform/database/database.js'
import type { TipStatus } from '../../tips/lifecycle.js'

/** A fiat intent's states are its tip's, in the contract's own words. */
const words = {
  pending: 'requires_action',
  confirmed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<TipStatus, string>

export interface FiatStatus {
  readonly intentId: string
  readonly status: (typeof words)[TipStatus]
  readonly completedAt: string | null
}

/**
 * How a fiat intent stands (contract: GET /payments/fiat/status). Reads the database alone, however many ask: the
 * provider is asked by the settlement worker in its own rhythm. Throws `payment_intent_not_found`.
 */
export async function readFiatStatus(db: Knex, intentId: string): Promise<FiatStatus> {
  const [row] = isFiatIntentId(intentId) ? await find(db, intentId) : []
  if (row === undefined) throw new DomainError('payment_intent_not_found')
  return {
    intentId,
    status: words[row.status],
    completedAt: row.confirmedAt?.toISOString() ?? null,
  }
}

function find(db: Knex, intentId: string): Promise<{ status: TipStatus; confirmedAt: Date | null }[]> {
  return query(db, {
    name: 'fiat.status',
    text: `select status, confirmed_at as "confirmedAt" from tips where id = $1 and kind = 'fiat'`,
    values: [intentId],
  })
}
