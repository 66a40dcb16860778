import type { CreatorSettings } from '../creators/settings.js'
import { displayNumber } from '../kernel/money.js'
import type { Token } from '../kernel/tokens.js'
import type { IntentAnswer } from './schemas.js'

/** A blockhash is valid for 150 slots of 400 ms. */
export const transactionLifeMs = 60_000

/** The part of a payment intent that is presented, new or read again. */
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
  readonly recipient: string
  readonly input: Token
  /** Base units the supporter pays. */
  readonly inputAmount: bigint
  readonly output: Token
}

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
    recipient: intent.recipient,
    input: tokenAmount(intent.input, intent.inputAmount),
    output: tokenAmount(intent.output, intent.outAmount),
  }
}

function tokenAmount({ symbol, mint, decimals }: Token, amount: bigint): IntentAnswer['input'] {
  return { symbol, mint, decimals, amount: String(amount) }
}
