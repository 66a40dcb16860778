import type { Language } from '../kernel/languages.js'

/**
 * How a payment stands. A tip has no such state of its own: it is read from the rows of tip, payments, refunds and disputes.
 * - `seen`: a transaction was reported, and the chain has not decided
 * - `late`: the time to pay is over and nothing has arrived; what arrives after all counts
 * - `underpaid`: too little arrived. Naira wait for their payer; of crypto the creator has it
 * - `failed`: nothing was paid
 */
export type Stage = 'waiting' | 'seen' | 'late' | 'underpaid' | 'failed' | PaidStage

/** The stages of a tip that was paid. */
export const paidStages = ['paid', 'disputed', 'partly-refunded', 'refunded'] as const
type PaidStage = (typeof paidStages)[number]

/** Decimal text, such as `15200` or `0.5`. */
export interface Amount {
  readonly text: string
  readonly currency: string
}

export interface Creator {
  /** Null: a wallet that is of no account here. */
  readonly creatorId: string | null
  readonly creatorName: string | null
}

/** What whoever has the link may see. Nothing of it is about the payer but their own message and language. */
export interface Payment {
  readonly intentId: string
  /** The payer's choice in the checkout, else the creator's. Null: nobody has chosen. */
  readonly language: Language | null
  readonly stage: Stage
  readonly creator: Creator
  /** Of the tip in lists and events. Undefined: there is none yet. */
  readonly tipId: string | undefined
  /** What was paid, else what is to be paid. */
  readonly amount: Amount
  /** What the creator got. Undefined: nothing yet. */
  readonly received: Amount | undefined
  readonly paidAt: Date | undefined
  readonly message: string | null
  /** What the creator says to who has paid. */
  readonly thanks: string | null
  readonly reference: string | null
  /** Of an unpaid tip: what arrived all the same. As `amount.currency`. */
  readonly arrived: string
  /** What went back to the payer or is on its way. */
  readonly back: string
  readonly isUnderWay: boolean
  /** What arrived beyond a paid tip and waits for its payer. */
  readonly surplus: string | undefined
  readonly expiresAt: Date
  /** The provider's page, while it can be paid there. */
  readonly checkoutUrl: string | undefined
  readonly account: {
    readonly bankName: string
    readonly accountNumber: string
    readonly accountName: string
  } | null
  /** The transaction on the chain. */
  readonly chain: { readonly signature: string; readonly mint: string; readonly wallet: string } | undefined
  /** Nothing undoes it but a refund or a dispute. Only then it is signed. */
  readonly isFinal: boolean
}

/** What a payer may decide about too little, as in the paths of the page's buttons. */
export const shortDecisions = ['accept', 'give-back'] as const

/** Too little crypto is a smaller tip already: the chain gave it to the creator. */
export function isPayersToDecide({ stage, amount }: Pick<Payment, 'stage' | 'amount'>): boolean {
  return stage === 'underpaid' && amount.currency === 'NGN'
}

export function isPaid(stage: Stage): stage is PaidStage {
  return paidStages.some((one) => one === stage)
}
