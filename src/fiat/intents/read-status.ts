import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { isFiatIntentId } from '../../kernel/ids.js'
import { query } from '../../platform/database/database.js'
import type { TipStatus } from '../../tips/lifecycle.js'

/** The API's names for the states of a fiat tip. */
const statusNames = {
  pending: 'requires_action',
  confirmed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<TipStatus, string>

export interface FiatStatus {
  readonly intentId: string
  readonly status: (typeof statusNames)[TipStatus]
  readonly completedAt: string | null
}

/**
 * The status of a fiat intent (API: GET /payments/fiat/status). Reads only the database; the settlement worker asks the
 * provider on its own schedule. Throws `payment_intent_not_found`.
 */
export async function readFiatStatus(db: Knex, intentId: string): Promise<FiatStatus> {
  const [row] = isFiatIntentId(intentId) ? await find(db, intentId) : []
  if (row === undefined) throw new DomainError('payment_intent_not_found')
  return {
    intentId,
    status: statusNames[row.status],
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
