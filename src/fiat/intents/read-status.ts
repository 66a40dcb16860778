import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { isFiatIntentId } from '../../kernel/ids.js'
import { displayNumber } from '../../kernel/money.js'
import { sqlList } from '../../kernel/state-machine.js'
import { statusKeySql } from '../../kernel/status-link.js'
import { query } from '../../platform/database/database.js'
import { type TipStatus, unpaidEnds } from '../../tips/lifecycle.js'
import { type FiatIntentStatus, intentStatusOf } from '../lifecycle.js'

export interface FiatStatus {
  readonly intentId: string
  readonly status: FiatIntentStatus
  readonly completedAt: string | null
  /** What arrived for a tip that is not paid, and waits for its payer. */
  readonly receivedNgn?: number
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
    status: intentStatusOf[row.status],
    completedAt: row.confirmedAt?.toISOString() ?? null,
    ...(row.waitingKobo !== null && { receivedNgn: displayNumber(row.waitingKobo, 2) }),
  }
}

export interface SessionIntent {
  readonly intentId: string
  readonly status: TipStatus
  readonly amountCents: bigint
  readonly chargeKobo: bigint
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly statusKey: Buffer
}

export function readSessionIntents(db: Knex, sessionId: string): Promise<SessionIntent[]> {
  return query(db, {
    name: 'fiat.session-intents',
    text: /* sql */ `
      select f.id as "intentId", t.status, f.amount_cents as "amountCents", f.charge_kobo as "chargeKobo",
        f.created_at as "createdAt", f.expires_at as "expiresAt", ${statusKeySql} as "statusKey"
      from fiat_intents f join tips t using (id)
      where f.sdk_session_id = $1`,
    values: [sessionId],
  })
}

/** The provider's reference of a creator's own intent. Throws `payment_intent_not_found`. */
export async function providerReferenceOf(db: Knex, userId: string, intentId: string): Promise<string> {
  const [row] = await query<{ readonly reference: string }>(db, {
    name: 'fiat.provider-reference',
    text: 'select provider_reference as reference from fiat_intents where id = $1 and user_id = $2',
    values: [intentId, userId],
  })
  if (row === undefined) throw new DomainError('payment_intent_not_found')
  return row.reference
}

interface StatusRow {
  readonly status: TipStatus
  readonly confirmedAt: Date | null
  readonly waitingKobo: bigint | null
}

function find(db: Knex, intentId: string): Promise<StatusRow[]> {
  return query(db, {
    name: 'fiat.status',
    text: /* sql */ `
      select status, confirmed_at as "confirmedAt",
        case when status in (${sqlList(unpaidEnds)}) then (
          select sum(s.kobo)::bigint from fiat_payments p join suspense_items s using (provider_transaction)
          where p.intent_id = tips.id and s.resolved_at is null) end as "waitingKobo"
      from tips where id = $1 and kind = 'fiat'`,
    values: [intentId],
  })
}
