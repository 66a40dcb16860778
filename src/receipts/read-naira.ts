import type { Knex } from 'knex'
import { gonePayments } from '../fiat/gone-payments.js'
import { displayText } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import type { TipStatus } from '../tips/lifecycle.js'
import type { Creator, Payment } from './payment.js'

interface NairaRow extends Creator, Pick<Payment, 'language'> {
  readonly tipStatus: TipStatus
  readonly message: string | null
  readonly thanks: string | null
  readonly reference: string | null
  readonly chargeKobo: bigint
  readonly settledKobo: bigint | null
  readonly creditedMicro: bigint | null
  readonly paidAt: Date | null
  readonly expiresAt: Date
  readonly expired: boolean
  readonly checkoutUrl: string | null
  readonly account: Payment['account']
  /** In suspense: waits for a person, is on its way back, went back. */
  readonly waitingKobo: bigint
  readonly returningKobo: bigint
  readonly returnedKobo: bigint
  /** Of what counted: gone, or on its way back to the payer. */
  readonly goneKobo: bigint
  readonly underWay: boolean
  readonly disputed: boolean
}

/** How a naira tip stands, for whoever has its link. */
export async function readNairaPayment(db: Knex, intentId: string): Promise<Payment | undefined> {
  const [row] = await query<NairaRow>(db, {
    name: 'receipts.naira',
    text: /* sql */ `
      select t.status as "tipStatus", t.message, k.thanks, coalesce(f.language, k.language) as language, t.reference, f.user_id as "creatorId", u.name as "creatorName",
        f.charge_kobo as "chargeKobo", f.settled_kobo as "settledKobo", f.credited_micro as "creditedMicro",
        f.expires_at as "expiresAt", clock_timestamp() >= f.expires_at as expired, f.checkout_url as "checkoutUrl",
        f.instructions as account, p."paidAt", s.*, g.*,
        coalesce((t.fiat_details ->> 'disputed')::boolean, false) as disputed
      from fiat_intents f join tips t using (id) join users u on u.id = f.user_id
      left join creator_pages k on k.user_id = u.id and u.frozen_at is null
      cross join lateral (
        select coalesce(min(paid_at) filter (where disposition = 'credited'), min(paid_at)) as "paidAt"
        from fiat_payments where intent_id = f.id) p
      cross join lateral (
        select coalesce(sum(i.kobo) filter (where i.state = 'waiting'), 0)::bigint as "waitingKobo",
          coalesce(sum(i.kobo) filter (where i.state = 'refunding'), 0)::bigint as "returningKobo",
          coalesce(sum(i.kobo) filter (where i.resolution = 'returned'), 0)::bigint as "returnedKobo"
        from suspense_items i join fiat_payments m using (provider_transaction) where m.intent_id = f.id) s
      cross join lateral (
        select coalesce(sum(r.credited_kobo), 0)::bigint as "goneKobo",
          exists (select from refunds where intent_id = f.id and source = 'tip' and ended_at is null) as "underWay"
        from ${gonePayments} r join fiat_payments m using (provider_transaction) where m.intent_id = f.id) g
      where f.id = $1`,
    values: [intentId],
  })
  return row && present(intentId, row)
}

function present(intentId: string, row: NairaRow): Payment {
  const { settledKobo, creditedMicro, goneKobo, waitingKobo, returningKobo, returnedKobo } = row
  const paid = row.tipStatus === 'confirmed'
  const isOpen = row.tipStatus === 'pending' && !row.expired
  return {
    intentId,
    language: row.language,
    stage: stageOf(row),
    creator: { creatorId: row.creatorId, creatorName: row.creatorName },
    tipId: intentId,
    amount: {
      text: displayText(paid ? (settledKobo ?? row.chargeKobo) : row.chargeKobo, 2),
      currency: 'NGN',
    },
    received:
      paid && creditedMicro !== null ? { text: displayText(creditedMicro, 6), currency: 'USDC' } : undefined,
    paidAt: paid ? (row.paidAt ?? undefined) : undefined,
    message: row.message,
    thanks: row.thanks,
    reference: row.reference,
    arrived: displayText(waitingKobo + returningKobo, 2),
    back: displayText(paid ? goneKobo : returningKobo + returnedKobo, 2),
    isUnderWay: paid ? row.underWay : returningKobo > 0n,
    surplus: paid && waitingKobo > 0n ? displayText(waitingKobo, 2) : undefined,
    expiresAt: row.expiresAt,
    checkoutUrl: isOpen ? (row.checkoutUrl ?? undefined) : undefined,
    account: isOpen ? row.account : null,
    chain: undefined,
    isFinal: paid,
  }
}

function stageOf(row: NairaRow): Payment['stage'] {
  const { tipStatus, settledKobo, goneKobo, waitingKobo, returningKobo, returnedKobo } = row
  if (tipStatus === 'confirmed') {
    if (row.disputed) return 'disputed'
    if (goneKobo === 0n) return 'paid'
    return goneKobo >= (settledKobo ?? 0n) ? 'refunded' : 'partly-refunded'
  }
  if (waitingKobo > 0n) return 'underpaid'
  if (returningKobo + returnedKobo > 0n) return 'refunded'
  if (tipStatus === 'failed') return 'failed'
  return tipStatus === 'cancelled' || row.expired ? 'late' : 'waiting'
}
