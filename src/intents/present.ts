import type { CreatorSettings } from '../creators/settings.js'
import { displayNumber } from '../kernel/money.js'
import type { IntentAnswer } from './schemas.js'

/** A blockhash lives for 150 slots of 400 ms. */
export const transactionLifeMs = 60_000

/** What of an issued intent is shown, whether it was just made or read again. */
export interface PresentableIntent {
  readonly id: string
  readonly transaction: Uint8Array
  /** Base units the creator receives. */
  readonly outAmount: bigint
  readonly priceImpactPct: number
  readonly usdCents: bigint
  readonly tokenSymbol: string
  readonly executionMode: IntentAnswer['executionMode']
  readonly provider: IntentAnswer['provider']
  readonly lastValidBlockHeight: number
  readonly createdAt: Date
}

/** The contract's crypto payment intent. */
export function presentIntent(intent: PresentableIntent, settings: CreatorSettings): IntentAnswer {
  const { yieldEnabled, gaslessEnabled, autoConvertUsdc } = settings
  return {
    intentId: intent.id,
    status: 'requires_action',
    transaction: Buffer.from(intent.transaction).toString('base64'),
    quote: {
      outAmount: String(intent.outAmount),
      priceImpactPct: intent.priceImpactPct,
      amountUsd: displayNumber(intent.usdCents, 2),
      tokenSymbol: intent.tokenSymbol,
    },
    executionMode: intent.executionMode,
    provider: intent.provider,
    lastValidBlockHeight: intent.lastValidBlockHeight,
    settings: { yieldEnabled, gaslessEnabled, autoConvertUsdc },
    expiresAt: new Date(intent.createdAt.getTime() + transactionLifeMs).toISOString(),
  }
}
