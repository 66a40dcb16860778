import { internWallets } from '../creators/intern-parties.js'
import type { PayableCreator } from '../creators/resolve-creator.js'
import { DomainError } from '../kernel/errors.js'
import type { Token } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import type { Gross } from './quote.js'
import type { IntentAnswer } from './schemas.js'
import type { UnsignedTransaction } from './unsigned-transaction.js'

export interface Intent extends UnsignedTransaction {
  readonly id: string
  readonly creator: PayableCreator
  readonly source: string
  readonly token: Token
  readonly gross: Gross
  readonly symbol: string
  readonly executionMode: IntentAnswer['executionMode']
  readonly sdkSessionId: string | null
}

/** PostgreSQL's name of the rule that no two intents have the same message. */
const sameMessage = 'payment_intents_message_hash_key'

/**
 * Writes the intent down; one made in an SDK session is counted with it, in the same statement, so that a session never
 * makes more than its share. Throws `invalid_session_token` when it has none left or ended meanwhile. False, and nothing
 * is written or counted, when the same message was issued before: a payment could not be told to be for one of the two.
 */
export async function storeIntent(
  services: Pick<Services, 'db' | 'config'>,
  intent: Intent,
): Promise<boolean> {
  try {
    await insert(services, intent)
    return true
  } catch (error) {
    if ((error as { constraint?: unknown }).constraint === sameMessage) return false
    throw error
  }
}

async function insert({ db, config }: Pick<Services, 'db' | 'config'>, intent: Intent): Promise<void> {
  const { creator, token, gross } = intent
  const parties = await internWallets(db, [creator.wallet])
  const stored = await query(db, {
    name: 'intents.insert',
    text: /* sql */ `
      with counted as (
        update sdk_sessions set intents = intents + 1
        where id = $18 and intents < $19 and consumed_at is null and expires_at > clock_timestamp()
        returning id)
      insert into payment_intents (id, recipient_party, payout_wallet, source_wallet, input_mint, input_raw,
        output_mint, expected_raw, fee_raw, amount_usd_cents, token_symbol, provider, execution_mode, price_impact_pct,
        reference_key, message_hash, transaction, last_valid_block_height, sdk_session_id)
      select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $20, $18
      where $18::uuid is null or exists (select from counted)
      returning id`,
    values: [
      intent.id,
      parties.get(creator.wallet),
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
    ],
  })
  if (stored.length === 0) throw new DomainError('invalid_session_token')
}
