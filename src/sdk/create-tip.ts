import { createIntent } from '../intents/create-intent.js'
import type { IntentAnswer } from '../intents/schemas.js'
import { DomainError, inputError } from '../kernel/errors.js'
import type { Origin } from '../kernel/trace-context.js'
import type { TokenPrices } from '../market/token-prices.js'
import type { TipInput } from './schemas.js'
import { meansCreator } from './sessions/match-creator.js'
import { countedSession, type SdkSession } from './sessions/session.js'

type Needs = Parameters<typeof createIntent>[0]

/**
 * Creates a payment intent within a session (API: POST /sdk/tip; `amount` is in USD). Throws
 * `session_of_another_creator`, and the errors of POST /payments/intent.
 */
export async function createSdkTip(
  services: Needs,
  prices: TokenPrices,
  session: SdkSession,
  { creatorId, amount, ...input }: TipInput,
  origin: Origin,
): Promise<IntentAnswer> {
  if (!(await meansCreator(services, creatorId, session.userId)))
    throw new DomainError('session_of_another_creator')
  const intent = { ...input, creatorId: session.userId, amountUsd: amount }
  const sdkSession = countedSession(services.config.sdk, session.id)
  return createIntent(services, prices, intent, { sdkSession, origin, own: session.own }).catch(renameAmount)
}

/** This endpoint's `amount` is the other's `amountUsd`. */
export function renameAmount(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== 'invalid_amount') throw error
  throw inputError('invalid_amount', 'amount', error.details[0]?.problem ?? 'must be a positive number')
}
