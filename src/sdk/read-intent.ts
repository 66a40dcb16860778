import type { Knex } from 'knex'
import { creatorSettings } from '../creators/settings.js'
import { readSessionIntents, type SessionIntent } from '../fiat/intents/read-status.js'
import { type PresentableIntent, presentIntent, transactionLifeMs } from '../intents/present.js'
import { DomainError } from '../kernel/errors.js'
import { isIntentId } from '../kernel/ids.js'
import { displayNumber } from '../kernel/money.js'
import { statusKeySql, statusUrl } from '../kernel/status-link.js'
import { type Token, tokenByMint, usdc } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import type { TipStatus } from '../tips/lifecycle.js'
import { type PaymentState, sdkIntentStatus } from './lifecycle.js'
import type { IntentStatusAnswer, NairaIntentAnswer } from './schemas.js'

type Needs = Pick<Services, 'db' | 'config'>

/** Slots can be slow. After twice the usual time a transaction is certainly past its last valid block height. */
const surelyExpiredMs = 2 * transactionLifeMs

/** More intents than a session may create by default. */
const mostListed = 10

type Derived = 'outAmount' | 'lastValidBlockHeight' | 'input' | 'inputAmount' | 'output'

interface IntentRow extends Omit<PresentableIntent, Derived>, PaymentState {
  readonly outAmount: string
  readonly lastValidBlockHeight: bigint
  readonly settings: unknown
  readonly inputMint: string
  readonly inputRaw: string
  readonly outputMint: string
  readonly signature: string | null
  readonly eventId: string | null
  /** Base units of the output; null until a payment is confirmed. */
  readonly receivedRaw: string | null
  readonly statusKey: Buffer
}

/**
 * Reads an intent of this session with the status of its payment. A pending tip counts as the payment if it claims this
 * intent; a confirmed tip counts only if the chain's facts match this intent. One that brought too little leaves the intent
 * unpaid, unless another transaction pays it. Throws `payment_intent_not_found`, also for an intent of another session.
 */
export async function readSdkIntent(
  { db, config }: Needs,
  sessionId: string,
  intentId: string,
): Promise<IntentStatusAnswer> {
  const [row] = isIntentId(intentId) ? await readIntents(db, sessionId, intentId) : []
  if (row === undefined) throw new DomainError('payment_intent_not_found')
  return presentStatus(config.http.publicUrl, row)
}

/**
 * Lists this session's newest intents with the status of their payments. A page so learns of payments made in another
 * window or on a phone.
 */
export async function listSdkIntents(
  { db, config }: Needs,
  sessionId: string,
): Promise<(IntentStatusAnswer | NairaIntentAnswer)[]> {
  const { publicUrl } = config.http
  const crypto = await readIntents(db, sessionId, null)
  const naira = await readSessionIntents(db, sessionId)
  const byTime = [
    ...crypto.map((row) => ({ at: row.createdAt, intent: presentStatus(publicUrl, row) })),
    ...naira.map((row) => ({ at: row.createdAt, intent: presentNaira(publicUrl, row) })),
  ].sort((a, b) => b.at.getTime() - a.at.getTime())
  return byTime.map(({ intent }) => intent)
}

const nairaStatus = {
  pending: 'requires_action',
  confirmed: 'confirmed',
  failed: 'failed',
  cancelled: 'expired',
} as const satisfies Record<TipStatus, string>

function presentNaira(publicUrl: string, { intentId, status, ...row }: SessionIntent): NairaIntentAnswer {
  return {
    intentId,
    status: nairaStatus[status],
    amountUsd: displayNumber(row.amountCents, 2),
    amountNgn: displayNumber(row.chargeKobo, 2),
    expiresAt: row.expiresAt.toISOString(),
    eventId: status === 'confirmed' ? intentId : null,
    statusUrl: statusUrl(publicUrl, row.statusKey, intentId),
  }
}

function presentStatus(publicUrl: string, row: IntentRow): IntentStatusAnswer {
  const intent = {
    ...row,
    outAmount: BigInt(row.outAmount),
    lastValidBlockHeight: Number(row.lastValidBlockHeight),
    // Intents are only created for known tokens.
    input: tokenByMint(row.inputMint) as Token,
    inputAmount: BigInt(row.inputRaw),
    output: tokenByMint(row.outputMint) as Token,
  }
  return {
    ...presentIntent(intent, creatorSettings.parse(row.settings)),
    status: sdkIntentStatus(row),
    signature: row.signature,
    outcome: row.underpaid ? 'underpaid' : row.outcome,
    receivedAmount:
      row.receivedRaw === null ? null : displayNumber(BigInt(row.receivedRaw), intent.output.decimals),
    eventId: row.eventId,
    statusUrl: statusUrl(publicUrl, row.statusKey, row.id),
  }
}

/** The tip that pays or claims an intent `i`, as the SQL of a lateral join. The one that counts most stands first. */
export const tipOfIntent = /* sql */ `(
  select * from tips
  where intent_id = i.id or underpaid_intent_id = i.id or (claimed_intent_id = i.id and status = 'pending')
  order by case when status = 'confirmed' then case when intent_id = i.id then 1 else 3 end
                when status = 'pending' then case when outcome is null then 2 else 4 end
                else 5 end, outcome nulls first, recorded_at desc
  limit 1)`
/** Of an intent `i` and its tip `t`, as SQL. */
export const isExpired = `i.created_at < now() - interval '${surelyExpiredMs} ms'`
/** What the intent's creator got of a transaction whose tip is another creator's, in USDC. */
export const furtherReceived = '(t.further_credits ->> i.payout_wallet)::numeric'
export const isUnderpaid = `(t.status is not distinct from 'confirmed' and t.intent_id is null)`

/** Reads one intent of a session, or the newest ones when `intentId` is null. */
function readIntents(db: Knex, sessionId: string, intentId: string | null): Promise<IntentRow[]> {
  return query(db, {
    name: 'sdk.intents',
    text: /* sql */ `
      select i.id, i.transaction, i.expected_raw as "outAmount", i.price_impact_pct as "priceImpactPct",
             i.amount_usd_cents as "usdCents",
             i.token_symbol as "tokenSymbol", i.execution_mode as "executionMode", i.provider,
             i.last_valid_block_height as "lastValidBlockHeight", i.created_at as "createdAt", u.settings,
             i.payout_wallet as recipient, i.input_mint as "inputMint", i.input_raw as "inputRaw", i.output_mint as "outputMint",
             ${isExpired} as expired, ${statusKeySql} as "statusKey",
             coalesce(t.main_id, t.id) as signature, case when t.status = 'confirmed' then t.id end as "eventId",
             t.status as "tipStatus", t.outcome, ${isUnderpaid} as underpaid,
             case when t.status is distinct from 'confirmed' then null
                  when t.recipient_party = i.recipient_party and t.mint = i.output_mint then t.received_raw
                  when i.output_mint = $3 then ${furtherReceived} end as "receivedRaw"
      from payment_intents i
      join sdk_sessions s on s.id = i.sdk_session_id
      join users u on u.id = s.user_id
      left join lateral ${tipOfIntent} t on true
      where i.sdk_session_id = $2 and ($1::text is null or i.id = $1)
      order by i.created_at desc limit ${mostListed}`,
    values: [intentId, sessionId, usdc.mint],
  })
}
