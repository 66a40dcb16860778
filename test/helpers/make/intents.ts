import type { Request } from '../http/client.js'

/** The answer of POST /payments/intent (contract: Crypto payment intent). */
export interface IntentBody {
  readonly success: true
  readonly intentId: string
  readonly status: 'requires_action'
  readonly transaction: string
  readonly quote: {
    readonly outAmount: string
    readonly priceImpactPct: number
    readonly amountUsd: number
    readonly tokenSymbol: string
  }
  readonly executionMode: 'sync' | 'async'
  readonly provider: string
  readonly lastValidBlockHeight: number
  readonly settings: {
    readonly yieldEnabled: boolean
    readonly gaslessEnabled: boolean
    readonly autoConvertUsdc: boolean
  }
  readonly expiresAt: string
}

/** Asks for an intent, which must be issued. */
export async function issueIntent(request: Request, body: Record<string, unknown>): Promise<IntentBody> {
  const answer = await request<IntentBody>('POST', '/payments/intent', { body })
  if (answer.status !== 200) throw new Error(`intent: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
