import type { SignatureStatus } from '../../ports/chain.js'
import type { DueTip, TipSchedule } from './tip-queue.js'

/** A transaction seen but not yet confirmed: the next slot is 400 ms away. */
const soonMs = 200
const leastMs = 250
const mostMs = 30 * 60_000
/** A confirmed tip is looked at again for finality after this. */
const finalityMs = 3000
/** For so long a confirmed transaction must be missing before it counts as vanished: nodes fall behind and recover. */
const missingLongMs = 60_000

/** What is known of a tip after a look that did not confirm it. */
export interface ChainAnswer {
  /** Absent: the chain did not answer about it. */
  readonly status: SignatureStatus | undefined
  /** Absent: not asked for, not answered or not readable. */
  readonly transaction: { readonly failed: boolean; readonly blockTime: Date | undefined } | undefined
}

/** What follows from a look at a pending tip that was not confirmed by it. Not knowing is "later", never a verdict. */
export function schedulePending(
  tip: DueTip,
  { status, transaction }: ChainAnswer,
  giveUpMs: number,
): TipSchedule {
  const { id, attempts, ageMs } = tip
  const done = (outcome: TipSchedule['outcome']): TipSchedule => ({ id, attempts, dueInMs: null, outcome })
  const later = (dueInMs: number): TipSchedule => ({ id, attempts, dueInMs, outcome: null })
  if (status === undefined) return later(patience(ageMs))
  if (status.commitment === 'none') return ageMs > giveUpMs ? done('not_found') : later(patience(ageMs))
  if (status.commitment === 'processed') return later(soonMs)
  // On another fork it may still succeed.
  if (status.failed) return status.commitment === 'finalized' ? done('tx_failed') : later(patience(ageMs))
  // Two nodes disagree.
  if (transaction?.failed === true) return ageMs > giveUpMs ? done('tx_failed') : later(patience(ageMs))
  // A node may know a fresh transaction before it knows its time, and a claim counts only with one.
  return transaction?.blockTime === undefined ? later(patience(ageMs)) : done('mismatch')
}

/**
 * What is to be done about a confirmed tip. `moved`: finalized elsewhere than where it was confirmed, so that it may
 * have done something else there. `vanished` is a suspicion, for the chain to be asked about in earnest.
 */
export type Finality = 'final' | 'moved' | 'wait' | 'missing' | 'vanished'

/** Judges a confirmed tip by its status. */
export function classifyFinality({ slot, missingMs }: DueTip, status: SignatureStatus | undefined): Finality {
  if (status === undefined) return 'wait'
  if (status.commitment === 'finalized' && status.failed) return 'vanished'
  if (status.commitment === 'finalized') return status.slot === slot ? 'final' : 'moved'
  if (status.commitment !== 'none') return 'wait'
  return missingMs !== null && missingMs >= missingLongMs ? 'vanished' : 'missing'
}

/** The next look at a confirmed tip that is not final yet. */
export function scheduleConfirmed(
  { id, attempts, ageMs, missingMs }: DueTip,
  missing: boolean | undefined,
): TipSchedule {
  const look = { id, attempts, dueInMs: Math.max(finalityMs, patience(ageMs)), outcome: null }
  // Without an answer it stays as missing as it was.
  return { ...look, missing: missing ?? missingMs !== null }
}

/** An eighth of the tip's age: a fresh one is looked for four times a second, a junk signature ever more rarely. */
function patience(ageMs: number): number {
  return Math.min(mostMs, Math.max(leastMs, ageMs / 8))
}
