import { resolveCreator } from '../../creators/resolve-creator.js'
import type { CreatorSettings } from '../../creators/settings.js'
import { ownReferenceOf } from '../../intents/own-reference.js'
import { tipLimitsFor } from '../../intents/quote.js'
import { givesOwn, presentStatusUrl } from '../../intents/status-url.js'
import { isAddress } from '../../kernel/base58.js'
import { DomainError } from '../../kernel/errors.js'
import { newFiatIntentId, parseUserId, providerReferenceOf } from '../../kernel/ids.js'
import { displayNumber } from '../../kernel/money.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { isSolDomain } from '../../kernel/sol-domain.js'
import { cleanLine, cleanMessage } from '../../kernel/text.js'
import { noOrigin, type Origin } from '../../kernel/trace-context.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import type { Config } from '../../platform/config/config.js'
import { type KeyedRequest, storeWithCreation } from '../../platform/database/idempotency-keys.js'
import { readClock } from '../../platform/database/read-clock.js'
import type { ChargeRequest } from '../../ports/collections.js'
import { rateDecimals } from '../../ports/exchange-rates.js'
import type { Services } from '../../services.js'
import { presentFiatDetails, priceFiatTip } from '../fees.js'
import type { FiatIntentAnswer, FiatIntentInput, FiatRateAnswer } from '../schemas.js'
import {
  checkChargeLimits,
  checkFiatUsdLimits,
  checkGivenCharge,
  parseKobo,
  parseUsdCents,
} from './amount-limits.js'
import { payerFrom } from './payer.js'
import { checkOpenIntents, type FiatIntent, type NairaSession, storeFiatIntent } from './store-intent.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'names' | 'collections' | 'metrics' | 'log'>

const minuteMs = 60_000

/**
 * Creates a fiat intent (API: POST /payments/fiat/intent): prices the tip, opens a charge at the provider and stores the
 * intent. Order of refusals: fields, amount, creator, limits, rate, charge, open intents, provider. The charge is opened
 * before the intent is stored: nobody can pay before the caller has the answer. `network`: the caller's network, for the
 * limit of open intents. `keyed`: the request's idempotency key. `origin`: of the tip. `session`: the intent
 * belongs to it if it is a session of this creator.
 */
export async function createFiatIntent(
  services: Needs,
  rates: ExchangeRates,
  input: FiatIntentInput,
  {
    network,
    keyed,
    origin = noOrigin,
    session,
  }: {
    readonly network: string
    readonly keyed?: KeyedRequest | undefined
    readonly origin?: Origin
    readonly session?: NairaSession | undefined
  },
): Promise<FiatIntentAnswer> {
  const { config } = services
  const amountCents = parseUsdCents(input.amount, config.tips)
  const givenKobo = parseKobo(input.amountNgn, config.fiat)
  const creator = await findRegisteredCreator(services, input.creatorId)
  checkFiatUsdLimits(amountCents, config.tips, creator.settings)
  const rate = await rates.current()
  const basis = config.fiat.chargeBasis
  const price = priceFiatTip(amountCents, rate.value, basis, givenKobo)
  checkChargeLimits(price.chargeKobo, config.fiat, price.isChargeGiven ? 'amountNgn' : 'amount')
  if (price.isChargeGiven)
    checkGivenCharge(
      price.chargeKobo,
      rate.value,
      basis,
      tipLimitsFor(config.tips, creator.settings),
      config.rates.lockTolerancePercent,
    )
  const owner = { userId: creator.userId, network }
  await checkOpenIntents(services, owner)
  const id = newFiatIntentId()
  const payer = payerFrom(input, config.http.publicUrl)
  const lifeMs = config.fiat.expiryMinutes * minuteMs
  const expiresAt = new Date((await readClock(services.db)).getTime() + lifeMs)
  const charge = {
    reference: providerReferenceOf(id),
    amountKobo: price.chargeKobo,
    email: payer.email,
    creatorId: creator.userId,
  }
  const way = input.collection ?? creator.settings.fiatCollection
  const collection = await openCharge(services, way, charge, expiresAt)
  const { message: memo, ...notice } = cleanMessage(input.memo)
  const ownSession = session?.userId === owner.userId ? session : undefined
  const intent: FiatIntent = {
    id,
    owner,
    payer,
    memo,
    price,
    basis,
    rate,
    collection,
    expiresAt,
    lifeMs,
    origin,
    session: ownSession,
    own: ownReferenceOf(input, ownSession?.own),
    language: input.language,
  }
  const wanted = session !== undefined || givesOwn(input)
  const answer = { ...present(intent), ...notice, ...(await presentStatusUrl(services, id, wanted)) }
  await storeFiatIntent(services, intent, (trx) => storeWithCreation(trx, keyed, answer))
  return answer
}

interface RegisteredCreator {
  readonly userId: string
  readonly settings: CreatorSettings
}

/** A fiat tip is credited to an account, so the creator must have one; a wallet is not needed. The API takes no handles here. */
async function findRegisteredCreator(
  services: Pick<Services, 'db' | 'names'>,
  creatorId: string,
): Promise<RegisteredCreator> {
  const name = cleanLine(creatorId)
  const isKnownForm = isSolDomain(name) || parseUserId(name) !== undefined || isAddress(creatorId)
  if (!isKnownForm) throw new DomainError('creator_not_found')
  const { userId, settings } = await resolveCreator(services, creatorId)
  if (userId === undefined) throw new DomainError('creator_not_found')
  return { userId, settings }
}

/** Throws `payment_refused` with the provider's text when it refuses this charge. Any other failure raises an alarm. */
async function openCharge(
  { collections, metrics, log }: Pick<Services, 'collections' | 'metrics' | 'log'>,
  way: CreatorSettings['fiatCollection'],
  charge: ChargeRequest,
  expiresAt: Date,
): Promise<FiatIntent['collection']> {
  try {
    if (way === 'checkout') return { checkoutUrl: await collections.openCheckout(charge) }
    return { account: await collections.openTransferAccount(charge, expiresAt) }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (error.kind === 'rejected') throw new DomainError('payment_refused', error.message)
    metrics.alerts.inc({ kind: 'fiatpay_away' })
    log.error({ err: error }, 'the fiat provider does not open charges')
    throw error
  }
}

function present({ id, collection, price, expiresAt }: FiatIntent): FiatIntentAnswer {
  const intent = { intentId: id, status: 'requires_action' as const, expiresAt: expiresAt.toISOString() }
  if ('checkoutUrl' in collection)
    return { ...intent, checkoutUrl: collection.checkoutUrl, paymentInstructions: null }
  const amount = displayNumber(price.chargeKobo, 2)
  const paymentInstructions = { ...collection.account, amount, currency: 'NGN' as const, reference: id }
  return { ...intent, checkoutUrl: null, paymentInstructions }
}

/** What a fiat tip would charge now (API: GET /payments/fiat/rate). Throws `invalid_amount`, `rate_unavailable`. */
export async function quoteFiatTip(
  config: Pick<Config, 'tips' | 'fiat'>,
  rates: ExchangeRates,
  amount: number,
): Promise<FiatRateAnswer> {
  const cents = parseUsdCents(amount, config.tips)
  const rate = await rates.current()
  return {
    base: 'USD',
    currency: 'NGN',
    rate: displayNumber(rate.value, rateDecimals),
    amountUsd: displayNumber(cents, 2),
    ...presentFiatDetails(priceFiatTip(cents, rate.value, config.fiat.chargeBasis)),
    asOf: rate.asOf.toISOString(),
    expiresAt: rate.expiresAt.toISOString(),
  }
}
