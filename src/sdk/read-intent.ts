import type { Knex } from 'knex'
import { creatorSettings } from '../creators/settings.js'
import { type PresentableIntent, presentIntent, transactionLifeMs } from '../intents/present.js'
import { DomainError } from '../kernel/errors.js'
import { isIntentId } from '../kernel/ids.js'
import { type Token, tokenByMint } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import type { IntentStatusAnswer } from './schemas.js'

/** Slots may be slow: only after twice its usual life is a transaction surely past its block height. */
const surelyPastMs = 2 * transactionLifeMs

/** More than a session makes by default. */
const mostListed = 10

interface IntentRow extends Omit<PresentableIntent, 'outAmount' | 'lastValidBlockHeight'> {
  readonly outAmount: string
  readonly lastValidBlockHeight: bigint
  readonly settings: unknown
  readonly recipient: string
  readonly inputMint: string
  readonly inputRaw: string
  readonly outputMint: string
  readonly past: boolean
  readonly signature: string | null
  readonly tipStatus: 'pending' | 'confirmed' | 'failed' | 'cancelled' | null
  readonly outcome: IntentStatusAnswer['outcome']
}

/**
 * An intent of this session and where its payment stands. A tip that was reported for it counts as its payment while
 * it is pending; once confirmed only if the chain says that it paid this very intent. Throws
 * `payment_intent_not_found`, also for an intent of another session.
 */
export async function readSdkIntent(
  db: Knex,
  sessionId: string,
  intentId: string,
): Promise<IntentStatusAnswer> {
  const [row] = isIntentId(intentId) ? await readIntents(db, sessionId, intentId) : []
  if (row === undefined) throw new DomainError('payment_intent_not_found')
  return presentStatus(row)
}

/**
 * The newest of this session's intents and where their payments stand: how a page hears of what was paid for it in another
 * window or by a phone.
 */
export async function listSdkIntents(db: Knex, sessionId: string): Promise<IntentStatusAnswer[]> {
  return (await readIntents(db, sessionId, null)).map(presentStatus)
}

function presentStatus(row: IntentRow): IntentStatusAnswer {
  const intent = {
    ...row,
    outAmount: BigInt(row.outAmount),
    lastValidBlockHeight: Number(row.lastValidBlockHeight),
  }
  return {
    ...presentIntent(intent, creatorSettings.parse(row.settings)),
    status: statusOf(row),
    signature: row.signature,
    outcome: row.outcome,
    recipient: row.recipient,
    input: { ...namedToken(row.inputMint), amount: row.inputRaw },
    output: { ...namedToken(row.outputMint), amount: row.outAmount },
  }
}

/** Only tokens we know are ever taken or paid out. */
function namedToken(mint: string): Pick<Token, 'mint' | 'symbol' | 'decimals'> {
  const { symbol, decimals } = tokenByMint(mint) as Token
  return { mint, symbol, decimals }
}

/** One of a session's intents, or with null the newest of them. */
function readIntents(db: Knex, sessionId: string, intentId: string | null): Promise<IntentRow[]> {
  return query(db, {
    name: 'sdk.intents',
    text: /* sql */ `
      select i.id, i.transaction, i.expected_raw as "outAmount", i.price_impact_pct as "priceImpactPct",
             i.amount_usd_cents as "usdCents",
             i.token_symbol as "tokenSymbol", i.execution_mode as "executionMode", i.provider,
             i.last_valid_block_height as "lastValidBlockHeight", i.created_at as "createdAt", u.settings,
             i.payout_wallet as recipient, i.input_mint as "inputMint", i.input_raw as "inputRaw", i.output_mint as "outputMint",
             i.created_at < now() - interval '${surelyPastMs} ms' as past,
             t.id as signature, t.status as "tipStatus", t.outcome
      from payment_intents i
      join sdk_sessions s on s.id = i.sdk_session_id
      join users u on u.id = s.user_id
      left join lateral (
        select id, status, outcome from tips
        where intent_id = i.id or (claimed_intent_id = i.id and status = 'pending')
        order by array_position(array['confirmed', 'pending']::tip_status[], status) nulls last, outcome nulls first, recorded_at desc
        limit 1) t on true
      where i.sdk_session_id = $2 and ($1::text is null or i.id = $1)
      order by i.created_at desc limit ${mostListed}`,
    values: [intentId, sessionId],
  })
}

/** A transaction that failed keeps its tip pending in public for ever; whoever pays must still be told. */
function statusOf({ tipStatus, outcome, past }: IntentRow): IntentStatusAnswer['status'] {
  if (tipStatus === null) return past ? 'expired' : 'requires_action'
  if (tipStatus === 'confirmed') return 'confirmed'
  return tipStatus === 'pending' && outcome === null ? 'submitted' : 'failed'
}
