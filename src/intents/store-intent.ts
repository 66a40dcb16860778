import type { Knex } from 'knex'
import { internWallets } from '../creators/intern-parties.js'
import type { PayableCreator } from '../creators/resolve-creator.js'
import { DomainError, type ErrorCode } from '../kernel/errors.js'
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
}

/** The unique constraint on the message hash. */
const messageHashConstraint = 'payment_intents_message_hash_key'

/**
 * Stores an intent. The same statement counts it for its SDK session, so that a session never exceeds its number of
 * intents. Throws why the session has none left: `session_consumed`, `session_expired`, `session_exhausted`. Returns false,
 * and stores and counts nothing, when an intent with the same message exists: a payment would match both. `atEnd` runs in
 * the same transaction, which it may refuse.
 */
export async function storeIntent(
  services: Pick<Services, 'db' | 'transact' | 'config'>,
  intent: PaymentIntent,
  atEnd?: (trx: Knex.Transaction) => Promise<void>,
): Promise<boolean> {
  const parties = await internWallets(services.db, [intent.creator.wallet])
  const party = parties.get(intent.creator.wallet)
  try {
    if (atEnd === undefined) await insert(services.db, services.config, intent, party)
    else
      await services.transact(async ({ trx }) => {
        await insert(trx, services.config, intent, party)
        await atEnd(trx)
      })
    return true
  } catch (error) {
    if ((error as { constraint?: unknown }).constraint === messageHashConstraint) return false
    throw error
  }
}

async function insert(
  db: Knex,
  config: Services['config'],
  intent: PaymentIntent,
  party: bigint | undefined,
): Promise<void> {
  const { creator, token, gross } = intent
  const inserted = await query(db, {
    name: 'intents.insert',
    text: /* sql */ `
      with counted as (
        update sdk_sessions set intents = intents + 1
        where id = $18 and intents < $19 and consumed_at is null and expires_at > clock_timestamp()
        returning id)
      insert into payment_intents (id, recipient_party, payout_wallet, source_wallet, input_mint, input_raw,
        output_mint, expected_raw, fee_raw, amount_usd_cents, token_symbol, provider, execution_mode, price_impact_pct,
        reference_key, message_hash, transaction, last_valid_block_height, sdk_session_id, least_raw, message)
      select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $20, $18, $21, $22
      where $18::uuid is null or exists (select from counted)
      returning id`,
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
      intent.sdkSessionId,
      config.sdk.sessionIntents,
      intent.lastValidBlockHeight,
      intent.leastAmount,
      intent.message,
    ],
  })
  if (inserted.length === 0) throw new DomainError(await whyNotCounted(db, intent.sdkSessionId))
}

async function whyNotCounted(db: Knex, sessionId: string | null): Promise<ErrorCode> {
  const [session] = await query<{ code: ErrorCode }>(db, {
    name: 'sdk_sessions.why-ended',
    text: /* sql */ `
      select case when consumed_at is not null then 'session_consumed'
                  when expires_at <= clock_timestamp() then 'session_expired'
                  else 'session_exhausted' end as code
      from sdk_sessions where id = $1`,
    values: [sessionId],
  })
  return session?.code ?? 'session_unknown'
}
