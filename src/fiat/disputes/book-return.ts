import type { Knex } from 'knex'
import { type Entry, platformAccount, userAccount } from '../../ledger/accounts.js'
import { findReceivable } from '../../ledger/receivables/read-receivables.js'
import { collectReceivable, endReceivable, freeReceivable } from '../../ledger/receivables/receivables.js'
import { credit } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'
import { giveBackToSuspense, takeFromSuspense } from '../suspense/suspense.js'
import { divideLoss, type Loss, type PaymentShares } from './payment-shares.js'

type ReturnKind = 'dispute' | 'refund' | 'reversal'

/** Naira that went back. `id`: the case, such as `dispute:17`. */
export interface PaymentReturn {
  readonly id: string
  readonly kind: ReturnKind
  readonly kobo: bigint
}

export interface BookedReturn extends Loss {
  readonly id: string
  readonly intentId: string
  readonly userId: string
  /** What the creator owes of it after all that was there. */
  readonly openMicro: bigint
}

/**
 * Books naira that the provider has given back to their payer (docs/decisions/0067), in the caller's transaction, which holds the
 * lock of the tip. The creator owes what the tip credited for them, the platform gives up its fee of them, and what is in suspense
 * goes with it. Undefined: nothing of the payment is left to lose, and what was held for this case is free. A repetition changes
 * nothing.
 */
export async function bookReturn(
  trx: Knex.Transaction,
  shares: PaymentShares,
  { id, kind, kobo }: PaymentReturn,
): Promise<BookedReturn | undefined> {
  const { transaction, intentId, userId } = shares
  const loss = divideLoss(shares, kobo)
  const stored =
    loss.suspenseKobo + loss.creditedKobo > 0n && (await storeReturn(trx, transaction, id, kind, loss))
  if (!stored) {
    await freeReceivable(trx, id)
    return undefined
  }
  await takeFromSuspense(trx, transaction, loss.suspenseKobo, { by: kind, note: id })
  await credit(trx, { key: `${id}:returned`, ref: intentId, entries: lossEntries(loss) })
  if (loss.debitMicro > 0n)
    await collectReceivable(trx, { id, userId, ref: intentId, amountMicro: loss.debitMicro })
  else await freeReceivable(trx, id)
  const owed = await findReceivable(trx, id)
  const openMicro = owed?.owed === true ? owed.amountMicro - owed.coveredMicro : 0n
  return { id, intentId, userId, ...loss, openMicro }
}

/** False: this case is booked already. */
async function storeReturn(
  trx: Knex,
  transaction: string,
  id: string,
  kind: ReturnKind,
  loss: Loss,
): Promise<boolean> {
  const rows = await query(trx, {
    name: 'disputes.store-return',
    text: /* sql */ `
      insert into payment_returns (id, provider_transaction, kind, suspense_kobo, credited_kobo, debit_micro, fee_micro)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing returning 1`,
    values: [id, transaction, kind, loss.suspenseKobo, loss.creditedKobo, loss.debitMicro, loss.feeMicro],
  })
  return rows.length > 0
}

/**
 * The provider takes the naira from our balance. What was exchanged for them is undone, and the creator owes the dollars:
 * `collectReceivable` moves what there is. The provider's own fee of the payment stays lost.
 */
function lossEntries({ suspenseKobo, creditedKobo, debitMicro, feeMicro }: Loss): Entry[] {
  const entries: Entry[] = [
    { account: platformAccount('float_ngn', 'NGN'), amount: suspenseKobo + creditedKobo },
    { account: platformAccount('suspense', 'NGN'), amount: -suspenseKobo },
    { account: platformAccount('fx', 'NGN'), amount: -creditedKobo },
    { account: platformAccount('fx', 'USDC'), amount: debitMicro + feeMicro },
    { account: platformAccount('platform_fee', 'USDC'), amount: -feeMicro },
    { account: platformAccount('receivables', 'USDC'), amount: -debitMicro },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}

/** The loss of this case is booked, and was not taken back. */
export async function isBooked(trx: Knex, id: string): Promise<boolean> {
  const rows = await query(trx, {
    name: 'disputes.is-booked',
    text: 'select 1 from payment_returns where id = $1 and restored_at is null',
    values: [id],
  })
  return rows.length > 0
}

/**
 * Takes a booked return back: the provider has given us the money after all. The creator gets what was paid of it, and owes nothing.
 * Undefined: this case is not booked, or was taken back before.
 */
export async function restoreReturn(
  trx: Knex.Transaction,
  { transaction, intentId, userId }: Pick<PaymentShares, 'transaction' | 'intentId' | 'userId'>,
  id: string,
): Promise<Loss | undefined> {
  const [loss] = await query<Loss>(trx, {
    name: 'disputes.restore-return',
    text: /* sql */ `
      update payment_returns set restored_at = clock_timestamp() where id = $1 and restored_at is null
      returning suspense_kobo as "suspenseKobo", credited_kobo as "creditedKobo", debit_micro as "debitMicro",
        fee_micro as "feeMicro"`,
    values: [id],
  })
  if (loss === undefined) return undefined
  await giveBackToSuspense(trx, transaction, loss.suspenseKobo)
  const ended = await endReceivable(trx, id)
  await credit(trx, {
    key: `${id}:restored`,
    ref: intentId,
    entries: restoreEntries(loss, userId, ended),
  })
  return loss
}

function restoreEntries(
  loss: Loss,
  userId: string,
  { paidMicro, openMicro }: { readonly paidMicro: bigint; readonly openMicro: bigint },
): Entry[] {
  const entries: Entry[] = [
    ...lossEntries(loss)
      .filter(({ account }) => account.kind !== 'receivables')
      .map(({ account, amount }) => ({ account, amount: -amount })),
    { account: platformAccount('receivables', 'USDC'), amount: openMicro },
    { account: userAccount(userId, 'available', 'USDC'), amount: paidMicro },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}
