import type { Knex } from 'knex'
import { type Entry, platformAccount } from '../../ledger/accounts.js'
import { credit } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'
import type { Payment } from '../../ports/collections.js'
import type { FiatCredit } from '../fees.js'
import type { Classification } from './classify-payment.js'
import { creditEntries } from './credit-entries.js'

/** A payment and what it is for. */
export interface RecordedPayment {
  readonly intentId: string
  readonly userId: string
  readonly payment: Payment
  readonly judgement: Classification
  /** What it credits, if it does. */
  readonly credit: FiatCredit | undefined
}

/**
 * Books a payment: its row, one transfer of the ledger keyed by the provider's transaction, and what waits for an
 * operator. The naira come from the provider: into the exchange what pays the charge, into suspense the rest; out of
 * the exchange come the dollars of the creator and of the platform.
 */
export async function recordPayment(trx: Knex, booked: RecordedPayment): Promise<void> {
  const { payment, intentId, judgement } = booked
  await query(trx, {
    name: 'fiat.payment',
    text: /* sql */ `
      insert into fiat_payments (provider_transaction, intent_id, kobo, paid_at, disposition) values ($1, $2, $3, $4, $5)`,
    values: [
      payment.transaction,
      intentId,
      payment.kobo,
      payment.paidAt,
      judgement.credits ? 'credited' : 'suspense',
    ],
  })
  await credit(trx, { key: `fiatpay:${payment.transaction}`, ref: intentId, entries: paymentEntries(booked) })
  if (judgement.suspense === undefined) return
  await query(trx, {
    name: 'fiat.suspense',
    text: 'insert into suspense_items (provider_transaction, kobo, reason) values ($1, $2, $3)',
    values: [payment.transaction, judgement.suspense.kobo, judgement.suspense.reason],
  })
}

function paymentEntries({ userId, payment, judgement, credit }: RecordedPayment): Entry[] {
  const waiting = judgement.suspense?.kobo ?? 0n
  const naira: Entry[] = [
    { account: platformAccount('provider_clearing', 'NGN'), amount: -payment.kobo },
    { account: platformAccount('fx', 'NGN'), amount: payment.kobo - waiting },
    { account: platformAccount('suspense', 'NGN'), amount: waiting },
  ]
  const dollars = credit === undefined ? [] : creditEntries(userId, credit)
  return [...naira.filter(({ amount }) => amount !== 0n), ...dollars]
}
