import { ask, type Service } from './ask.js'
import { pause } from './pause.js'

export interface TipClientOptions extends Service {
  /** From the backend's `init`; for a page. */
  readonly sessionToken: string
}

export interface TipRequest {
  readonly creatorId: string
  /** USD. */
  readonly amount: number
  readonly inputTokenMint: string
  readonly sourceWalletAddress: string
}

/** Base units of a token, as text: they may be more than a number holds. */
export interface TokenAmount {
  readonly symbol: string
  readonly mint: string
  readonly decimals: number
  readonly amount: string
}

/** An unsigned transaction for the supporter's wallet. */
export interface TipIntent {
  readonly intentId: string
  readonly status: 'requires_action' | 'submitted' | 'confirmed' | 'failed' | 'expired'
  /** Base64 of a serialized, unsigned versioned transaction. */
  readonly transaction: string
  readonly quote: {
    /** What the creator receives, base units. */
    readonly outAmount: string
    readonly priceImpactPct: number
    readonly amountUsd: number
    readonly tokenSymbol: string
  }
  readonly executionMode: 'sync' | 'async'
  readonly provider: 'direct-transfer' | 'aggregator-ultra' | 'aggregator-v6'
  readonly lastValidBlockHeight: number
  readonly settings: {
    readonly yieldEnabled: boolean
    readonly gaslessEnabled: boolean
    readonly autoConvertUsdc: boolean
  }
  readonly expiresAt: string
  /** The creator's wallet. */
  readonly recipient: string
  /** What the supporter pays. */
  readonly input: TokenAmount
  /** What the creator receives. */
  readonly output: TokenAmount
}

/** An intent and where its payment stands. */
export interface TipIntentStatus extends TipIntent {
  readonly signature: string | null
  /** Why a payment does not count. */
  readonly outcome: 'tx_failed' | 'not_found' | 'mismatch' | null
}

export interface SubmittedTip {
  readonly intentId: string
  readonly txSignature: string
  readonly creatorWallet: string
  readonly senderWallet: string
  /** Base units. */
  readonly tipAmount: number
  readonly tokenSymbol?: string
  readonly message?: string
}

export interface RecordedTip {
  readonly tip: { readonly id: string; readonly status: string }
  readonly message: string
}

export interface WaitOptions {
  readonly pollMs?: number
  readonly signal?: AbortSignal
}

/** What a page needs to know before it can ask for an amount. */
export interface SessionDescription {
  readonly creator: { readonly id: string; readonly name: string; readonly address: string }
  readonly tokens: readonly { readonly symbol: string; readonly mint: string; readonly decimals: number }[]
  readonly presetsUsd: readonly number[]
  readonly limits: { readonly minTipUsd: number; readonly maxTipUsd: number }
  readonly chain: string
  readonly rpcUrl: string | null
  /** For intents of executionMode `async`. */
  readonly bundleRpcUrl: string | null
  readonly fiat: { readonly enabled: boolean; readonly collection: 'checkout' | 'bank_transfer' }
  readonly theme: 'dark' | 'light'
  readonly parentOrigin: string
  readonly expiresAt: string
  /** The service's clock, since a device's may be wrong. */
  readonly now: string
}

export interface TipClient {
  session(): Promise<SessionDescription>
  /** Makes an intent: sign its transaction and submit it, then `record` it. */
  tip(request: TipRequest): Promise<TipIntent>
  /** Where the payment of an intent stands now. */
  intent(intentId: string): Promise<TipIntentStatus>
  /** Asks until the payment is confirmed, has failed or its time is over. End it earlier with the signal. */
  settled(intentId: string, options?: WaitOptions): Promise<TipIntentStatus>
  /** Tells the service of a submitted transaction, so that it is looked for at once and carries its message. */
  record(tip: SubmittedTip): Promise<RecordedTip>
}

/** Below the limit of one question a second for each intent. */
const defaultPollMs = 1500

/** The service as a supporter's page uses it. */
export function createTipClient({ sessionToken: bearer, ...service }: TipClientOptions): TipClient {
  function intent(intentId: string, signal?: AbortSignal): Promise<TipIntentStatus> {
    return ask(service, 'GET', `/sdk/intents/${encodeURIComponent(intentId)}`, { bearer, signal })
  }
  return {
    session: () => ask(service, 'GET', '/sdk/session', { bearer }),
    tip: (request) => ask(service, 'POST', '/sdk/tip', { bearer, body: request }),
    intent: (intentId) => intent(intentId),
    async settled(intentId, { pollMs = defaultPollMs, signal } = {}) {
      for (;;) {
        const current = await intent(intentId, signal)
        if (current.status !== 'requires_action' && current.status !== 'submitted') return current
        await pause(pollMs, signal)
      }
    },
    record: (tip) => ask(service, 'POST', '/chain/tips/create', { body: tip }),
  }
}
