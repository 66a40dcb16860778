import { generateKeyPairSync } from 'node:crypto'
import { internWallets } from '../creators/parties.js'
import { type PayableCreator, payableCreator } from '../creators/resolve.js'
import { encodeBase58 } from '../kernel/base58.js'
import { DomainError } from '../kernel/errors.js'
import { newIntentId } from '../kernel/ids.js'
import { cleanLine } from '../kernel/text.js'
import { type Token, tokenByMint } from '../kernel/tokens.js'
import { query } from '../platform/db.js'
import type { Services } from '../services.js'
import { targetToken } from './choose-route.js'
import { presentIntent } from './present.js'
import type { PriceBook } from './price-book.js'
import {
  askedAmount,
  boundsFor,
  directLegs,
  type Gross,
  grossAmount,
  type Legs,
  refuseOutOfBounds,
} from './quote.js'
import type { IntentAnswer, IntentInput } from './schemas.js'

type Needs = Pick<Services, 'db' | 'hints' | 'config' | 'names' | 'chain' | 'metrics' | 'log'>

const maxSymbolLength = 20

/**
 * Builds the unsigned transaction of a crypto tip and stores what was issued (contract: POST /payments/intent).
 * Order of refusals: fields, mint, wallet (all in the schema), amount, creator, limits, price, route. `sdkSessionId`:
 * the SDK session it is made in and counted for, if any.
 */
export async function createIntent(
  services: Needs,
  prices: PriceBook,
  input: IntentInput,
  sdkSessionId: string | null = null,
): Promise<IntentAnswer> {
  const token = tokenByMint(input.inputTokenMint) as Token
  const asked = askedAmount(input.amount, input.amountUsd, token)
  const creator = await payableCreator(services, input.creatorId)
  const bounds = boundsFor(services.config.tips, creator.settings)
  refuseOutOfBounds(asked, bounds)
  const gross = grossAmount(asked, token, await prices.priceOf(token.mint), bounds)
  if (targetToken(token, creator.settings) !== token) throw new DomainError('swap_engines_unavailable')

  const issued = await issueTransfer(services, token, gross, creator, input.sourceWalletAddress)
  const symbol = cleanLine(input.tokenSymbol ?? '', maxSymbolLength) || token.symbol
  const intent = {
    ...issued,
    id: newIntentId(),
    creator,
    source: input.sourceWalletAddress,
    token,
    gross,
    symbol,
    sdkSessionId,
  }
  await storeIntent(services, intent)
  return present(intent)
}

/**
 * Whether an issued transaction can still land. By the chain's own height, not by `expiresAt`: slots run slower than
 * their 400 ms, and a second transaction while the first can still land could make a supporter pay twice.
 */
export async function intentLives(
  { chain }: Pick<Services, 'chain'>,
  { lastValidBlockHeight }: Pick<IntentAnswer, 'lastValidBlockHeight'>,
): Promise<boolean> {
  return (await chain.blockHeight()) <= lastValidBlockHeight
}

interface Issued {
  readonly transaction: Uint8Array
  readonly lastValidBlockHeight: number
  readonly referenceKey: string
  readonly legs: Legs
}

async function issueTransfer(
  { chain, config, metrics, log }: Needs,
  token: Token,
  gross: Gross,
  creator: PayableCreator,
  sender: string,
): Promise<Issued> {
  const { treasuryWallet, feeBps } = config.tips
  const [{ blockhash, lastValidBlockHeight }, accounts] = await Promise.all([
    chain.latestBlockhash(),
    chain.transferAccounts(token.mint, creator.wallet, treasuryWallet),
  ])
  const legs = directLegs(gross.units, feeBps, token, accounts)
  if (legs.feeLeftOut) {
    metrics.alerts.inc({ kind: 'fee_leg_left_out' })
    log.warn(
      { token: token.symbol },
      'the treasury cannot receive this token: a tip goes out without the platform fee',
    )
  }
  const referenceKey = newReferenceKey()
  const { mint, decimals } = token
  const transaction = chain.buildTransfer({
    mint,
    decimals,
    sender,
    recipient: creator.wallet,
    treasury: treasuryWallet,
    net: legs.net,
    fee: legs.fee,
    referenceKey,
    blockhash,
  })
  return { transaction, lastValidBlockHeight, referenceKey, legs }
}

/** A public key nobody holds the secret of: only its uniqueness is used. */
function newReferenceKey(): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  return encodeBase58(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
}

interface Intent extends Issued {
  readonly id: string
  readonly creator: PayableCreator
  readonly source: string
  readonly token: Token
  readonly gross: Gross
  readonly symbol: string
  readonly sdkSessionId: string | null
}

/**
 * Writes the intent down; one made in an SDK session is counted with it, in the same statement, so that a session never
 * makes more than its share. Throws `invalid_session_token` when it has none left or ended meanwhile.
 */
async function storeIntent({ db, config }: Pick<Services, 'db' | 'config'>, intent: Intent): Promise<void> {
  const { creator, token, gross, legs } = intent
  const parties = await internWallets(db, [creator.wallet])
  const stored = await query(db, {
    name: 'intents.insert',
    text: /* sql */ `
      with counted as (
        update sdk_sessions set intents = intents + 1
        where id = $15 and intents < $16 and consumed_at is null and expires_at > clock_timestamp()
        returning id)
      insert into payment_intents (id, recipient_party, payout_wallet, source_wallet, input_mint, input_raw,
        output_mint, expected_raw, fee_raw, amount_usd_cents, token_symbol, provider, execution_mode,
        reference_key, transaction, last_valid_block_height, sdk_session_id)
      select $1, $2, $3, $4, $5, $6, $5, $7, $8, $9, $10, 'direct-transfer', $11, $12, $13, $14, $15
      where $15::uuid is null or exists (select from counted)
      returning id`,
    values: [
      intent.id,
      parties.get(creator.wallet),
      creator.wallet,
      intent.source,
      token.mint,
      gross.units,
      legs.net,
      legs.fee,
      gross.usdCents,
      intent.symbol,
      executionMode(creator),
      intent.referenceKey,
      intent.transaction,
      intent.lastValidBlockHeight,
      intent.sdkSessionId,
      config.sdk.sessionIntents,
    ],
  })
  if (stored.length === 0) throw new DomainError('invalid_session_token')
}

function executionMode({ settings }: PayableCreator): 'sync' | 'async' {
  return settings.gaslessEnabled ? 'async' : 'sync'
}

function present({ legs, gross, symbol, creator, ...intent }: Intent): IntentAnswer {
  return presentIntent(
    {
      ...intent,
      outAmount: legs.net,
      usdCents: gross.usdCents,
      tokenSymbol: symbol,
      executionMode: executionMode(creator),
      provider: 'direct-transfer',
      createdAt: new Date(),
    },
    creator.settings,
  )
}
