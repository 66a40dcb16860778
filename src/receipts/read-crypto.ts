import type { Knex } from 'knex'
import { transactionLifeMs } from '../intents/present.js'
import { displayText } from '../kernel/money.js'
import { type Token, tokenByMint, usdc } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import { type PaymentState, sdkIntentStatus } from '../sdk/lifecycle.js'
import { furtherReceived, isExpired, isUnderpaid, tipOfIntent } from '../sdk/read-intent.js'
import { symbolOf } from '../tips/read/present.js'
import type { Creator, Payment } from './payment.js'

interface CryptoRow extends Creator, Pick<Payment, 'language'>, PaymentState {
  readonly inputMint: string
  readonly inputRaw: string
  readonly createdAt: Date
  readonly wallet: string
  readonly message: string | null
  readonly thanks: string | null
  readonly reference: string | null
  readonly signature: string | null
  readonly mint: string | null
  readonly decimals: number | null
  readonly displayRaw: string | null
  /** What the wallet of the intent's creator got, in the tip's token or, of a tip to somebody else, in USDC. */
  readonly receivedRaw: string | null
  readonly isOwn: boolean | null
  readonly paidAt: Date | null
  readonly final: boolean
}

/** How a crypto intent stands, for whoever has its link. */
export async function readCryptoPayment(db: Knex, intentId: string): Promise<Payment | undefined> {
  const [row] = await query<CryptoRow>(db, {
    name: 'receipts.crypto',
    text: /* sql */ `
      select r.user_id as "creatorId", u.name as "creatorName", i.input_mint as "inputMint", i.input_raw as "inputRaw",
        i.created_at as "createdAt", i.payout_wallet as wallet, ${isExpired} as expired,
        coalesce(t.message, i.message) as message, k.thanks, k.language, coalesce(t.reference, i.reference) as reference,
        coalesce(t.main_id, t.id) as signature, t.status as "tipStatus", t.outcome, ${isUnderpaid} as underpaid, t.mint, t.decimals,
        t.display_raw as "displayRaw", t.recipient_party = i.recipient_party as "isOwn",
        case when t.recipient_party = i.recipient_party then t.received_raw else ${furtherReceived} end
          as "receivedRaw", coalesce(t.block_time, t.confirmed_at) as "paidAt",
        t.finalized_at is not null as final
      from payment_intents i join parties r on r.id = i.recipient_party left join users u on u.id = r.user_id
      left join creator_pages k on k.user_id = u.id and u.frozen_at is null
      left join lateral ${tipOfIntent} t on true
      where i.id = $1`,
    values: [intentId],
  })
  return row && present(intentId, row)
}

const stageOf = {
  requires_action: 'waiting',
  submitted: 'seen',
  confirmed: 'paid',
  expired: 'late',
} as const

function present(intentId: string, row: CryptoRow): Payment {
  const status = sdkIntentStatus(row)
  const stage = status === 'failed' ? (row.underpaid ? 'underpaid' : 'failed') : stageOf[status]
  // Intents are only created for known tokens.
  const input = tokenByMint(row.inputMint) as Token
  const asked = { text: displayText(BigInt(row.inputRaw), input.decimals), currency: input.symbol }
  const shown = (raw: string | null, { mint, decimals }: Pick<CryptoRow, 'mint' | 'decimals'> = row) =>
    raw === null || mint === null
      ? undefined
      : { text: displayText(BigInt(raw), decimals ?? 0), currency: symbolOf(mint) }
  const landed = status === 'confirmed' || row.underpaid
  const received = shown(row.receivedRaw, row.isOwn === false ? usdc : row)
  return {
    intentId,
    language: row.language,
    stage,
    creator: { creatorId: row.creatorId, creatorName: row.creatorName },
    tipId: row.signature ?? undefined,
    amount: (status === 'confirmed' ? shown(row.displayRaw) : undefined) ?? asked,
    received: landed ? received : undefined,
    paidAt: landed ? (row.paidAt ?? undefined) : undefined,
    message: row.message,
    thanks: row.thanks,
    reference: row.reference,
    arrived: received?.text ?? '0',
    back: '0',
    isUnderWay: false,
    surplus: undefined,
    expiresAt: new Date(row.createdAt.getTime() + transactionLifeMs),
    checkoutUrl: undefined,
    account: null,
    chain:
      row.signature === null || row.mint === null
        ? undefined
        : { signature: row.signature, mint: row.mint, wallet: row.wallet },
    isFinal: status === 'confirmed' && row.final,
  }
}
