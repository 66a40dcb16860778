import type { Knex } from 'knex'
import type { Language } from '../../kernel/languages.js'
import { statusKeySql } from '../../kernel/status-link.js'
import type { SealedAddress } from '../../mail/queue-email.js'
import { query, write } from '../../platform/database/database.js'
import { lockFiatTip } from '../../tips/fiat-tip.js'
import type { TipStatus } from '../../tips/lifecycle.js'
import type { ChargeBasis, FiatPrice } from '../fees.js'

/** An intent whose tip is locked: no other worker settles it until the transaction ends. */
export interface LockedIntent {
  readonly id: string
  /** The request that made it. */
  readonly requestId: string | null
  readonly status: TipStatus
  readonly userId: string
  /** The creator's custody wallet. Null until it is provisioned. */
  readonly wallet: string | null
  readonly creatorName: string
  /** The integrator's own name for the payment. */
  readonly reference: string | null
  /** The supporter's. */
  readonly message: string | null
  /** In which its payer is written to. */
  readonly language: Language
  /** Makes the link of its status page. */
  readonly statusKey: Buffer
  readonly price: FiatPrice
  readonly basis: ChargeBasis
  readonly rateId: bigint
  /** Units of 10^-8, locked when the intent was created. */
  readonly rate: bigint
  readonly expiresAt: Date
  readonly expired: boolean
  /** Null: no receipt. */
  readonly receiptTo: SealedAddress | null
  /** The provider's ids of the payments that are recorded. */
  readonly recorded: readonly string[]
  /** What was credited, and what counted of the payments. Null: nothing yet. */
  readonly creditedMicro: bigint | null
  readonly countedKobo: bigint | null
}

type Row = Omit<LockedIntent, 'status' | 'requestId' | 'price' | 'receiptTo'> &
  FiatPrice & { readonly sealedEmail: Buffer | null }

/** Locks the tip first and reads afterwards, so that it sees what another worker has just committed. */
export async function lockIntent(trx: Knex, id: string): Promise<LockedIntent> {
  const locked = await lockFiatTip(trx, id)
  const [row] = await query<Row>(trx, {
    name: 'fiat.read-locked',
    text: /* sql */ `
      select f.id, f.user_id as "userId", w.public_key as wallet, u.name as "creatorName", t.reference, t.message,
        coalesce(f.language, 'en') as language, ${statusKeySql} as "statusKey",
        f.amount_cents as "amountCents", f.fee_cents as "feeCents", f.final_cents as "finalCents",
        f.charge_kobo as "chargeKobo", f.charge_given as "isChargeGiven", f.basis, f.rate_id as "rateId", (r.value * 100000000)::bigint as rate,
        f.expires_at as "expiresAt", clock_timestamp() >= f.expires_at as expired, p.email_sealed as "sealedEmail",
        f.credited_micro as "creditedMicro", f.settled_kobo as "countedKobo",
        array(select provider_transaction from fiat_payments where intent_id = f.id) as recorded
      from fiat_intents f join tips t on t.id = f.id join users u on u.id = f.user_id join wallets w on w.user_id = f.user_id
      join rates r on r.id = f.rate_id left join payers p on p.id = f.payer_id
      where f.id = $1`,
    values: [id],
  })
  if (row === undefined || locked === undefined) throw new Error(`No fiat intent ${id}`)
  const { amountCents, feeCents, finalCents, chargeKobo, isChargeGiven, sealedEmail, ...intent } = row
  const price = { amountCents, feeCents, finalCents, chargeKobo, isChargeGiven }
  const receiptTo = sealedEmail === null ? null : { sealed: sealedEmail }
  return { ...intent, ...locked, price, receiptTo }
}

/** What is set when an intent closes: it does not count as open any more, and the payer's network is deleted. */
export const closingSql = 'client_network = null, unlist_at = null'

/** Closes an intent that was not completed. */
export async function closeIntent(trx: Knex, id: string): Promise<void> {
  await write(trx, {
    name: 'fiat.close',
    text: `update fiat_intents set ${closingSql} where id = $1`,
    values: [id],
  })
}

/** Closes a cancelled intent, which leaves the lists a day after it expired. */
export async function closeCancelled(trx: Knex, id: string): Promise<void> {
  await write(trx, {
    name: 'fiat.close-cancelled',
    text: `update fiat_intents set client_network = null, unlist_at = expires_at + interval '24 hours' where id = $1`,
    values: [id],
  })
}
