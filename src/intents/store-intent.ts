import type { Knex } from 'knex'
import { internWallets } from '../accounts/wallets/intern-parties.js'
import type { PayableCreator } from '../creators/resolve-creator.js'
import type { Token } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import type { GrossAmount } from './quote.js'
import type { IntentAnswer } from './schemas.js'
import type { UnsignedTransaction } from './unsigned-transaction.js'

export interface PaymentIntent extends UnsignedTransaction {
  readonly id: string
  readonly creator: PayableCreator
  readonly source: string
  readonly token: Token
  readonly gross: GrossAmount
  readonly symbol: string
  /** The supporter's message, cleaned. */
  readonly message: string | null
  readonly executionMode: IntentAnswer['executionMode']
  readonly sdkSessionId: string | null
  /** The request that asked for it. */
  readonly requestId: string | null
}

/** The unique constraint on the message hash. */
const messageHashConstraint = 'payment_intents_message_hash_key'

/** A write that belongs to an intent. It runs in the intent's transaction, which it may refuse by throwing. */
export type IntentWrite = (trx: Knex.Transaction) => Promise<void>

/**
 * Stores an intent, and runs `writes` in the same transaction. Returns false, and stores nothing, when an intent with the
 * same message exists: a payment would match both.
 */
export async function storeIntent(
  { db, transact }: Pick<Services, 'db' | 'transact'>,
  intent: PaymentIntent,
  writes: readonly IntentWrite[],
): Promise<boolean> {
  const { wallet, custodyWallet = wallet } = intent.creator
  const parties = await internWallets(db, [custodyWallet])
  const party = parties.get(custodyWallet)
  try {
    if (writes.length === 0) await insert(db, intent, party)
    else
      await transact(async ({ trx }) => {
        await insert(trx, intent, party)
        for (const write of writes) await write(trx)
      })
    return true
  } catch (error) {
    if ((error as { constraint?: unknown }).constraint === messageHashConstraint) return false
    throw error
  }
}

async function insert(db: Knex, intent: PaymentIntent, party: bigint | undefined): Promise<void> {
  const { creator, token, gross } = intent
  await query(db, {
    name: 'intents.insert',
    text: /* sql */ `
      insert into payment_intents (id, recipient_party, payout_wallet, source_wallet, input_mint, input_raw,
        output_mint, expected_raw, fee_raw, amount_usd_cents, token_symbol, provider, execution_mode, price_impact_pct,
        reference_key, message_hash, transaction, last_valid_block_height, sdk_session_id, least_raw, message,
        creator_wallet, request_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
    values: [
      intent.id,
      party,
      creator.wallet,
      intent.source,
      token.mint,
      gross.units,
      intent.output.mint,
      intent.outAmount,
      intent.fee,
      gross.usdCents,
      intent.symbol,
      intent.provider,
      intent.executionMode,
      intent.priceImpactPct,
      intent.referenceKey,
      intent.messageHash,
      intent.transaction,
      intent.lastValidBlockHeight,
      intent.sdkSessionId,
      intent.leastAmount,
      intent.message,
      creator.custodyWallet ?? null,
      intent.requestId,
    ],
  })
}
