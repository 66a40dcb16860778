import type { Knex } from 'knex'
import { internWallets } from '../accounts/wallets/intern-parties.js'
import { type PayableCreator, resolvePayableCreator } from '../creators/resolve-creator.js'
import { DomainError } from '../kernel/errors.js'
import { newIntentId } from '../kernel/ids.js'
import { cleanLine, cleanMessage, cleanName } from '../kernel/text.js'
import { liquidStakingToken, type Token, tokenByMint } from '../kernel/tokens.js'
import { noOrigin, type Origin } from '../kernel/trace-context.js'
import type { TokenPrices } from '../market/token-prices.js'
import { write } from '../platform/database/database.js'
import { type KeyedRequest, storeWithCreation } from '../platform/database/idempotency-keys.js'
import { refuseWhileStopped } from '../platform/database/switches/switch-watch.js'
import type { Services } from '../services.js'
import { buildDirectTransfer } from './direct/build-transfer.js'
import { type OwnReference, ownReferenceOf } from './own-reference.js'
import { presentIntent } from './present.js'
import { checkUsdLimits, type GrossAmount, grossAmount, parseTipAmount, tipLimitsFor } from './quote.js'
import type { IntentAnswer, IntentInput } from './schemas.js'
import { selectRoute, type TipRoute } from './select-route.js'
import { givesOwn, presentStatusUrl } from './status-url.js'
import { buildSwap } from './swap/build-swap.js'
import type { UnsignedTransaction } from './unsigned-transaction.js'

type Needs = Pick<
  Services,
  | 'db'
  | 'transact'
  | 'notifications'
  | 'config'
  | 'names'
  | 'chain'
  | 'swaps'
  | 'switches'
  | 'metrics'
  | 'log'
>

const maxSymbolLength = 20

interface IntentOwner {
  /** The SDK session the intent belongs to, if any, and what counts it there. */
  readonly sdkSession?: { readonly id: string; readonly count: IntentWrite }
  readonly keyed?: KeyedRequest | undefined
  readonly origin?: Origin
  /** Of its session: counts where the request gives none. */
  readonly own?: OwnReference
}

/**
 * Creates a payment intent: builds the unsigned transaction of a crypto tip and stores both (API: POST /payments/intent).
 * Checks in this order: fields, mint and wallet (in the schema), then amount, creator, limits, price, route.
 */
export async function createIntent(
  services: Needs,
  prices: TokenPrices,
  input: IntentInput,
  { sdkSession, keyed, origin = noOrigin, own }: IntentOwner = {},
): Promise<IntentAnswer> {
  const token = tokenByMint(input.inputTokenMint) as Token
  const requested = parseTipAmount(input.amount, input.amountUsd, token)
  const creator = await resolvePayableCreator(services, input.creatorId)
  const limits = tipLimitsFor(services.config.tips, creator.settings)
  checkUsdLimits(requested, limits)
  const gross = grossAmount(requested, token, await prices.priceOf(token.mint), limits)

  const route = selectRoute(token, creator.settings, liquidStakingToken)
  if (route.kind === 'swap') refuseWhileStopped(services.switches, ['swaps'])
  const source = input.sourceWalletAddress
  const symbol = cleanLine(input.tokenSymbol ?? '', maxSymbolLength) || token.symbol
  const { message, ...notice } = cleanMessage(input.message)
  const senderName = cleanName(input.senderName)
  const { executionMode } = route
  const owner = { sdkSessionId: sdkSession?.id ?? null, origin }
  const ownReference = ownReferenceOf(input, own)
  const words = { message, senderName }
  const fields = { creator, source, token, gross, symbol, ...words, executionMode, ...owner, ownReference }
  const intent = await buildIntent(services, route, fields)
  const store = (built: PaymentIntent, answer: IntentAnswer) =>
    storeIntent(services, built, [
      ...(sdkSession ? [sdkSession.count] : []),
      ...(keyed ? [(trx: Knex.Transaction) => storeWithCreation(trx, keyed, answer)] : []),
    ])
  const answerOf = async (built: PaymentIntent) => ({
    ...present(built),
    ...notice,
    ...(await presentStatusUrl(services, built.id, givesOwn(input))),
  })
  const answer = await answerOf(intent)
  if (await store(intent, answer)) return answer
  // For two equal requests within a block, an engine without reference keys builds the same message twice.
  const second = await buildIntent(services, route, fields, intent.provider)
  const other = await answerOf(second)
  if (await store(second, other)) return other
  throw new DomainError('swap_engines_unavailable')
}

/**
 * Whether the transaction of an intent can still land. Uses the block height, not `expiresAt`, because slots may take longer
 * than 400 ms. A second transaction while the first can still land could make a supporter pay twice.
 */
export async function intentCanLand(
  { chain }: Pick<Services, 'chain'>,
  { lastValidBlockHeight }: Pick<IntentAnswer, 'lastValidBlockHeight'>,
): Promise<boolean> {
  return (await chain.blockHeight()) <= lastValidBlockHeight
}

type IntentFields = Omit<PaymentIntent, keyof UnsignedTransaction | 'id'>

async function buildIntent(
  services: Needs,
  { kind, output }: TipRoute,
  fields: IntentFields,
  excluded?: UnsignedTransaction['provider'],
): Promise<PaymentIntent> {
  const { token, gross, creator, source } = fields
  const transaction =
    kind === 'direct'
      ? await buildDirectTransfer(services, token, gross, creator, source)
      : await buildSwap(services, { input: token, output, gross, creator, supporter: source }, excluded)
  return { ...fields, ...transaction, id: newIntentId() }
}

function present({ gross, symbol, creator, token, ...intent }: PaymentIntent): IntentAnswer {
  const { units: inputAmount, usdCents } = gross
  const shown = { recipient: creator.wallet, input: token, inputAmount, usdCents, tokenSymbol: symbol }
  return presentIntent({ ...intent, ...shown, createdAt: new Date() }, creator.settings)
}

interface PaymentIntent extends UnsignedTransaction {
  readonly id: string
  readonly creator: PayableCreator
  readonly source: string
  readonly token: Token
  readonly gross: GrossAmount
  readonly symbol: string
  /** The supporter's message, cleaned. */
  readonly message: string | null
  readonly senderName: string | null
  readonly executionMode: IntentAnswer['executionMode']
  readonly sdkSessionId: string | null
  readonly origin: Origin
  readonly ownReference: OwnReference
}

const messageHashConstraint = 'payment_intents_message_hash_key'

/** A write that belongs to an intent. It runs in the intent's transaction, which it may refuse by throwing. */
type IntentWrite = (trx: Knex.Transaction) => Promise<void>

/**
 * Stores an intent, and runs `writes` in the same transaction. Returns false, and stores nothing, when an intent with the
 * same message exists: a payment would match both.
 */
async function storeIntent(
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
        for (const also of writes) await also(trx)
      })
    return true
  } catch (error) {
    if ((error as { constraint?: unknown }).constraint === messageHashConstraint) return false
    throw error
  }
}

async function insert(db: Knex, intent: PaymentIntent, party: bigint | undefined): Promise<void> {
  const { creator, token, gross } = intent
  await write(db, {
    name: 'intents.insert',
    text: /* sql */ `
      insert into payment_intents (id, recipient_party, payout_wallet, source_wallet, input_mint, input_raw,
        output_mint, expected_raw, fee_raw, amount_usd_cents, token_symbol, provider, execution_mode, price_impact_pct,
        reference_key, message_hash, transaction, last_valid_block_height, sdk_session_id, least_raw, message,
        creator_wallet, request_id, trace_id, reference, metadata, sender_name)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)`,
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
      intent.origin.requestId,
      intent.origin.traceId,
      intent.ownReference.reference,
      intent.ownReference.metadata,
      intent.senderName,
    ],
  })
}
