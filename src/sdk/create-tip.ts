import { createIntent } from '../intents/create-intent.js'
import { DomainError } from '../kernel/errors.js'
import type { TokenPrices } from '../market/token-prices.js'
import { meansCreator } from './match-creator.js'
import { readSdkIntent } from './read-intent.js'
import type { TipAnswer, TipInput } from './schemas.js'
import type { SdkSession } from './session.js'

type Needs = Parameters<typeof createIntent>[0]

/**
 * Creates a payment intent within a session (API: POST /sdk/tip; `amount` is in USD). Throws
 * `session_of_another_creator`, and the errors of POST /payments/intent.
 */
export async function createSdkTip(
  services: Needs,
  prices: TokenPrices,
  session: SdkSession,
  { creatorId, amount, inputTokenMint, sourceWalletAddress }: TipInput,
): Promise<TipAnswer> {
  if (!(await meansCreator(services, creatorId, session.userId)))
    throw new DomainError('session_of_another_creator')
  const intent = { creatorId: session.userId, amountUsd: amount, inputTokenMint, sourceWalletAddress }
  const created = await createIntent(services, prices, intent, { sdkSessionId: session.id })
  const { recipient, input, output } = await readSdkIntent(services.db, session.id, created.intentId)
  return { ...created, recipient, input, output }
}
