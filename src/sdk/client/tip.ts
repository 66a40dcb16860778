import { TippingError } from './errors.js'
import type { OwnReference } from './events.js'
import { requestJson, type Service } from './request.js'
import { pause } from './wait.js'

export interface TipClientOptions extends Service {
  /** From the backend's `init`; for a page. */
  readonly sessionToken: string
}

/** Without a reference or metadata of its own a tip has those of its session. */
export interface TipRequest extends OwnReference {
  readonly creatorId: string
  /** USD. */
  readonly amount: number
  readonly inputTokenMint: string
  readonly sourceWalletAddress: string
  /** The supporter's message. It is the tip's, whatever is reported later. */
  readonly message?: string
  /** The supporter's name, kept to 100 characters. The sender stays the wallet. */
  readonly senderName?: string
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
  /** The page that tells the payer how the payment stands: of a new intent, if the request gave a reference or metadata. */
  readonly statusUrl?: string
}

/** An intent with the status of its payment. */
export interface TipIntentStatus extends TipIntent {
  readonly signature: string | null
  /** Why a payment does not count. `underpaid`: less arrived than the intent asked for. */
  readonly outcome: 'tx_failed' | 'not_found' | 'mismatch' | 'underpaid' | null
  /** What the creator received, display units of `output`; null until the payment is confirmed. */
  readonly receivedAmount: number | null
  /** Of the tip's event; null until the payment is confirmed. */
  readonly eventId: string | null
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

/** What a page needs before it can show a form for the amount. */
export interface SessionDescription {
  readonly creator: { readonly id: string; readonly name: string; readonly address: string }
  /** The creator's words to who has paid. Absent: there are none. */
  readonly thanks?: string
  /** Preselect the first one: USDC if the creator takes it. */
  readonly tokens: readonly { readonly symbol: string; readonly mint: string; readonly decimals: number }[]
  readonly presetsUsd: readonly number[]
  readonly limits: { readonly minTipUsd: number; readonly maxTipUsd: number }
  readonly chain: string
  readonly rpcUrl: string | null
  /** For intents of executionMode `async`. */
  readonly bundleRpcUrl: string | null
  readonly fiat: {
    readonly enabled: boolean
    readonly collection: 'checkout' | 'bank_transfer'
    /** The limits of a naira charge. Undefined from an older service. */
    readonly minNgn?: number
    readonly maxNgn?: number
  }
  readonly theme: 'dark' | 'light'
  readonly parentOrigin: string
  readonly expiresAt: string
  /** The service's clock, since a device's may be wrong. */
  readonly now: string
}

export interface TipClient {
  session(): Promise<SessionDescription>
  /** Creates an intent. Sign its transaction and submit it, then call `record`. */
  tip(request: TipRequest): Promise<TipIntent>
  /** An intent with the current status of its payment. */
  intent(intentId: string): Promise<TipIntentStatus>
  /** Polls until the payment is confirmed or failed, or the intent expired; temporary failures are retried. The signal ends it earlier. */
  settled(intentId: string, options?: WaitOptions): Promise<TipIntentStatus>
  /** Reports a submitted transaction, so that the service verifies it immediately. */
  record(tip: SubmittedTip): Promise<RecordedTip>
}

/** The service allows one request a second for each intent. */
const defaultPollMs = 1500

/** A client of the service for a supporter's page. */
export function createTipClient({ sessionToken: bearer, ...service }: TipClientOptions): TipClient {
  function intent(intentId: string, signal?: AbortSignal): Promise<TipIntentStatus> {
    return requestJson(service, 'GET', `/sdk/intents/${encodeURIComponent(intentId)}`, { bearer, signal })
  }
  return {
    session: () => requestJson(service, 'GET', '/sdk/session', { bearer }),
    tip: (request) => requestJson(service, 'POST', '/sdk/tip', { bearer, body: request }),
    intent: (intentId) => intent(intentId),
    async settled(intentId, { pollMs = defaultPollMs, signal } = {}) {
      for (;;) {
        const current = await intent(intentId, signal).catch((error: unknown) => {
          if (error instanceof TippingError && error.temporary) return undefined
          throw error
        })
        if (current !== undefined && !/^(requires_action|submitted)$/.test(current.status)) return current
        await pause(pollMs, signal)
      }
    },
    record: (tip) => requestJson(service, 'POST', '/chain/tips/create', { body: tip }),
  }
}
