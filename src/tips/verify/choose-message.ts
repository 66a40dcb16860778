import type { Claim } from '../record/claim.js'

/** A claim and when it came, in ms since the epoch. Undefined: now. */
export type TimedClaim = Claim & { readonly claimedMs?: number }

/** The intent that a transaction pays, or pays too little for. */
export interface IntentMessage {
  readonly id: string
  readonly message: string | null
  /**
   * The transaction carries the reference key of the intent, or is its message. Otherwise it is only alike: anyone may have
   * created such an intent, so neither the intent nor its id proves who speaks.
   */
  readonly isCertain: boolean
}

export interface MessageRule {
  readonly intent: IntentMessage | undefined
  /** Undefined: the chain does not say yet, so no claim is late. */
  readonly paidAt: Date | undefined
  /** For claims that do not name the intent. */
  readonly windowMs: number
}

export interface ChosenMessage {
  readonly message: string | null
  /** The intent's own, or of a claim that names it. No later claim replaces it. */
  readonly byIntent: boolean
}

/** Only the supporter knows the id of the intent, so a claim that names it has longer. */
const intentWindowMs = 24 * 3_600_000

/**
 * The message of a tip (docs/decisions/0044): the intent's own, else that of the first claim in time that names the intent,
 * else that of the first claim within the window. `agreeing`: the claims that agree with the facts, oldest first.
 */
export function chooseMessage(
  agreeing: readonly TimedClaim[],
  { intent, paidAt, windowMs }: MessageRule,
): ChosenMessage {
  const certain = intent?.isCertain === true ? intent : undefined
  if (certain !== undefined && certain.message !== null) return { message: certain.message, byIntent: true }
  const first = (longestMs: number, counts: (claim: TimedClaim) => boolean): string | undefined =>
    agreeing.find((claim) => claim.message !== null && ageMs(claim, paidAt) <= longestMs && counts(claim))
      ?.message ?? undefined
  const named = first(intentWindowMs, ({ intentId }) => certain !== undefined && intentId === certain.id)
  if (named !== undefined) return { message: named, byIntent: true }
  return { message: first(windowMs, () => true) ?? intent?.message ?? null, byIntent: false }
}

/** How long after the payment a claim came. */
function ageMs({ claimedMs }: TimedClaim, paidAt: Date | undefined): number {
  return claimedMs === undefined || paidAt === undefined ? 0 : claimedMs - paidAt.getTime()
}
