import type { RecordStore } from './record-store.js'
import type { Charge, Dispute, Refund, TopUp, Transfer } from './records.js'

/** NGN 1,000,000,000, so that payouts do not depend on collections. */
export const startingFloatKobo = 100_000_000_000

// The provider's own fees in kobo. Of a payment: 1.5 %, plus NGN 100 from NGN 2,500 up, at most NGN 2,000.
const flatFeeFromKobo = 250_000
const flatFeeKobo = 10_000
const feeMaxKobo = 200_000
// Of a transfer: NGN 10 up to NGN 5,000, NGN 25 up to NGN 50,000, NGN 50 above.
const smallKobo = 500_000
const mediumKobo = 5_000_000

export function paymentFee(kobo: number): number {
  const flat = kobo >= flatFeeFromKobo ? flatFeeKobo : 0
  return Math.min(Math.ceil((kobo * 15) / 1000) + flat, feeMaxKobo)
}

export function transferFee(kobo: number): number {
  if (kobo <= smallKobo) return 1000
  return kobo <= mediumKobo ? 2500 : 5000
}

/** How each kind of record changes the balance. */
export const effects = {
  /** The fee stays with the provider, also when the money goes back. */
  charge: ({ payments }: Charge): number =>
    payments.reduce(
      (sum, { amountKobo, feeKobo, reversedKobo = 0 }) => sum + amountKobo - feeKobo - reversedKobo,
      0,
    ),
  /** The money leaves when the transfer is accepted, and comes back with the fee when it fails or is reversed. */
  transfer: ({ amountKobo, feeKobo, status }: Transfer): number =>
    status === 'failed' || status === 'reversed' ? 0 : -(amountKobo + feeKobo),
  /** The money leaves when the refund is requested. */
  refund: ({ amountKobo, status }: Refund): number => (status === 'failed' ? 0 : -amountKobo),
  /** An open dispute takes nothing. */
  dispute: ({ takenKobo }: Dispute): number => -takenKobo,
  topUp: ({ amountKobo }: TopUp): number => amountKobo,
}

interface BalanceContext {
  readonly charges: RecordStore<Charge>
  readonly transfers: RecordStore<Transfer>
  readonly refunds: RecordStore<Refund>
  readonly disputes: RecordStore<Dispute>
  readonly topUps: RecordStore<TopUp>
}

/** The provider's own book: its balance for the business, and the parts of it. */
export function readBook({ charges, transfers, refunds, disputes, topUps }: BalanceContext) {
  const book = {
    floatKobo: startingFloatKobo + topUps.totalKobo,
    chargesKobo: charges.totalKobo,
    transfersKobo: transfers.totalKobo,
    refundsKobo: refunds.totalKobo,
    disputesKobo: disputes.totalKobo,
  }
  return { ...book, balanceKobo: Object.values(book).reduce((sum, kobo) => sum + kobo, 0) }
}
