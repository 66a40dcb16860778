// The API's answers, as far as the dashboard reads them. A test checks them against the service's schemas.

/** Symbols of the tokens that a creator can accept. */
export const tokens = ['SOL', 'USDC', 'USDT', 'BONK', 'JitoSOL'] as const

export interface Me {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly walletPublicKey: string | null
  readonly emailVerifiedAt: string | null
}

/** What protects the account. */
export interface Security {
  readonly emailVerified: boolean
  /** False: void or never set. */
  readonly hasPassword: boolean
  readonly totp: boolean
  readonly recoveryCodesLeft: number
  /** How many passkeys there are. */
  readonly passkeys: number
  readonly frozenAt: string | null
  readonly tipMails: TipMails
  /** The new address, until the link mailed to it is opened. */
  readonly pendingEmail: string | null
}

export type TipMails = 'off' | 'each' | 'daily'

/** A session of the account, by which somebody is signed in. */
export interface OpenSession {
  readonly id: string
  readonly current: boolean
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly network: string | null
  readonly userAgent: string | null
}

export interface Passkey {
  readonly id: string
  readonly label: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

export interface Balance {
  readonly availableUSDC: number
  readonly pendingUSDC: number
  readonly heldUSDC: number
  /** Absent: nothing. */
  readonly owedUSDC?: number | undefined
  readonly disputedUSDC?: number | undefined
}

/** A token besides USDC in the creator's wallet. */
export interface TokenBalance {
  readonly symbol: string
  readonly mint: string
  readonly amount: number
  readonly valueUsd: number
}

export type TipStatus = 'pending' | 'confirmed' | 'failed' | 'cancelled'

export interface ListedTip {
  readonly signature: string
  readonly sender: string
  readonly amount: number
  readonly receivedAmount: number | null
  readonly tokenSymbol: string
  readonly message: string | null
  readonly timestamp: string
  readonly status: TipStatus
  readonly valueUsd: number
  readonly fiatDetails: {
    readonly platformFee: number
    readonly finalAmountUsd: number
    readonly amountNgn: number
  } | null
  /** The wallet that was paid. */
  readonly recipient: string
  /** Of `amount`; absent: nothing. */
  readonly refundedAmount?: number | undefined
  readonly disputed?: boolean | undefined
}

export interface TipsPage {
  readonly tips: readonly ListedTip[]
  readonly nextCursor: string | null
  /** Older tips were not searched. */
  readonly searchedSince: string | null
}

export interface Day {
  readonly date: string
  readonly count: number
  readonly valueUsd: number
}

export interface ApiKey {
  readonly id: string
  readonly prefix: string
  readonly label: string | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

export interface NewApiKey {
  readonly id: string
  readonly apiKey: string
  readonly prefix: string
}

export interface Settings {
  readonly acceptedTokens: readonly string[]
  readonly yieldEnabled: boolean
  readonly gaslessEnabled: boolean
  readonly autoConvertUsdc: boolean
  readonly fiatCollection: 'checkout' | 'bank_transfer'
  readonly minTipUsd: number | null
  readonly maxTipUsd: number | null
  readonly hideUnpaidWords: boolean
}

/** A wallet of the creator's own. */
export interface PayoutWallet {
  readonly wallet: string
  /** New crypto tips go to it. */
  readonly takesTips: boolean
}

export interface Profile {
  readonly id: string
  readonly name: string
  readonly walletPublicKey: string | null
  readonly solDomain: string | null
  readonly settings: Settings & { readonly tipsTo: 'custody' | 'payout_wallet' }
  /** Until the creator has chosen, the dashboard asks what tips are to arrive as. */
  readonly tokensChosen: boolean
}

export interface Bank {
  readonly code: string
  readonly name: string
  readonly nicknames: readonly string[]
}

/** A bank account of an earlier withdrawal. */
export interface UsedBankAccount {
  /** The withdrawal, by which the account is named. */
  readonly reference: string
  readonly bankCode: string
  readonly bankName: string | null
  readonly accountNumber: string
  readonly accountName: string
}

/** The answer to an accepted withdrawal. */
export interface WithdrawalAnswer {
  readonly reference: string
  readonly status: 'pending' | 'submitted'
  readonly amountNGN: number
  readonly systemFeeNGN: number
  readonly requiresVerification: boolean
}

/** What a withdrawal waits for before it is sent. */
export type HeldFor = 'identity' | 'confirmation' | 'dispute' | 'breaker'

/** Of what is given back to a payer. */
export type RefundStatus = 'pending' | 'paid' | 'failed'
/** Of a take-out. */
export type TransferStatus = 'prepared' | 'signed' | 'final' | 'expired' | 'failed'
export type PayoutStatus = 'pending' | 'submitted' | 'processing' | 'completed' | 'failed'

export interface Payout {
  readonly reference: string
  readonly status: PayoutStatus
  readonly amountNGN: number
  readonly promisedNGN: number
  readonly systemFeeNGN: number
  readonly amountUSDC: number
  readonly bankCode: string
  readonly bankName: string | null
  readonly accountNumber: string
  readonly accountName: string
  readonly requiresVerification: boolean
  readonly heldFor: HeldFor | null
  readonly failureReason: string | null
  readonly createdAt: string
}

export interface PayoutsPage {
  readonly payouts: readonly Payout[]
  readonly nextCursor: string | null
}

/** A bank account that was withdrawn to. */
export interface Payee {
  readonly id: string
  readonly bankCode: string
  readonly bankName: string | null
  readonly accountNumber: string
  readonly accountName: string
  /** Withdrawals to it need no code. */
  readonly confirmed: boolean
  readonly lastUsedAt: string
}

/** Naira for one dollar. */
export interface Rate {
  readonly rate: number
  readonly expiresAt: string
}

/** Of GET /auth/export. */
export interface DataExport {
  readonly status: 'preparing' | 'ready' | 'expired' | 'failed'
}
