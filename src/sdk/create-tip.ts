import { createIntent } from '../intents/create-intent.js'
import { DomainError } from '../kernel/errors.js'
import type { TokenPrices } from '../market/token-prices.js'
import { isCreator } from './match-creator.js'
import { readSdkIntent } from './read-intent.js'
import type { TipAnswer, TipInput } from './schemas.js'
import type { SdkSession } from './session.js'

type Needs = Parameters<typeof createIntent>[0]

/**
 * Makes a tip intent within a session (contract: POST /sdk/tip; `amount` is in USD). Refuses another creator than
 * the session's with `session_of_another_creator`, then as /payments/intent does.
 */
export async function createSdkTip(
  services: Needs,
  prices: TokenPrices,
  session: SdkSession,
  { creatorId, amount, inputTokenMint, sourceWalletAddress }: TipInput,
): Promise<TipAnswer> {
  if (!(await isCreator(services, creatorId, session.userId)))
    throw new DomainError('session_of_another_creator')
  const intent = { creatorId: session.userId, amountUsd: amount, inputTokenMint, sourceWalletAddress }
  const issued = await createIntent(services, prices, intent, session.id)
  const { recipient, input, output } = await readSdkIntent(services.db, session.id, issued.intentId)
  return { ...issued, recipient, input, output }
}
