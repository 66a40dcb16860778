import type { Claim } from '../record/claim.js'

export type TimedClaim = Claim & {
  /** When it came, in ms since the epoch. Undefined: now. */
  readonly claimedMs?: number
  /** By a request. The finder's claims have no words, because nobody was asked for them. */
  readonly isReported?: boolean
}

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
}

export interface ChosenMessage {
  readonly message: string | null
  /** The intent's own, or of a claim that names it. No later claim replaces it. */
  readonly byIntent: boolean
  /** A report names the intent and says nothing: no other claim speaks for them. */
  readonly isSilent?: boolean
}

/** Only the supporter knows the id of the intent, so a claim that names it has longer. */
const intentWindowMs = 24 * 3_600_000
/** For claims that do not name the intent. */
const windowMs = 10 * 60_000

/**
 * The message of a tip (docs/decisions/0006): the intent's own, else that of the first claim in time that names the intent. None
 * if such a report says nothing; else that of the first claim within the window. `agreeing`: the claims that agree with the facts, oldest first.
 */
export function chooseMessage(
  agreeing: readonly TimedClaim[],
  { intent, paidAt }: MessageRule,
): ChosenMessage {
  const certain = intent?.isCertain === true ? intent : undefined
  if (certain !== undefined && certain.message !== null) return { message: certain.message, byIntent: true }
  const inTime = (longestMs: number) => agreeing.filter((claim) => ageMs(claim, paidAt) <= longestMs)
  const firstOf = (claims: readonly TimedClaim[]) => claims.find(({ message }) => message !== null)?.message
  const named = inTime(intentWindowMs).filter(({ intentId }) => intentId !== null && intentId === certain?.id)
  const own = firstOf(named)
  if (own != null) return { message: own, byIntent: true }
  if (named.some(({ isReported }) => isReported)) return { message: null, byIntent: false, isSilent: true }
  return { message: firstOf(inTime(windowMs)) ?? intent?.message ?? null, byIntent: false }
}

/** How long after the payment a claim came. */
function ageMs({ claimedMs }: TimedClaim, paidAt: Date | undefined): number {
  return claimedMs === undefined || paidAt === undefined ? 0 : claimedMs - paidAt.getTime()
}
