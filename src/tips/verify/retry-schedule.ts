import type { ChainTransaction, SignatureStatus } from '../../ports/chain.js'
import type { DueTip, TipSchedule } from './tip-queue.js'

/** For a transaction that is processed but not confirmed: the next slot is 400 ms away. */
const processedMs = 200
const minMs = 250
const maxMs = 30 * 60_000
/** For a transaction that landed long ago and that no node gives in a form that can be read. */
const unreadableMs = 24 * 3_600_000
/** The shortest wait before a confirmed tip is checked for finality again. */
const minFinalityMs = 3000
/**
 * A confirmed transaction must be missing this long before it may have vanished: nodes fall behind and recover, and by then the
 * blockhash of whatever was reported before has expired, whatever an endpoint says about its slot.
 */
export const vanishedAfterMs = 180_000

/** What the chain answered about a tip that this check did not confirm. */
export interface ChainAnswer {
  /** Undefined: the chain gave no answer. */
  readonly status: SignatureStatus | undefined
  /** Undefined: not requested, not answered or not readable. */
  readonly transaction: { readonly failed: boolean; readonly blockTime: Date | undefined } | undefined
  /** No call failed, so a transaction that is missing has no form that can be read. */
  readonly isAnswered?: boolean
  /** It is no tip but pays custody wallets, which are credited once it is final. */
  readonly awaitsFinality?: boolean
}

/** Whether the transaction has landed and succeeded, and most of the cluster agrees. */
export function isLanded(status: SignatureStatus | undefined): boolean {
  return status !== undefined && !status.failed && /^(confirmed|finalized)$/.test(status.commitment)
}

/** Whether this transaction cannot vanish any more. The status and the transaction may come from different forks. */
export function isFinalized(
  status: SignatureStatus | undefined,
  transaction: Pick<ChainTransaction, 'slot'> | undefined,
): boolean {
  return status?.commitment === 'finalized' && status.slot === transaction?.slot
}

/** When a pending tip that was not confirmed is due again. A missing answer means "later", never an outcome. */
export function schedulePending(
  tip: DueTip,
  { status, transaction, isAnswered = true, awaitsFinality = false }: ChainAnswer,
  giveUpMs: number,
): TipSchedule {
  const { id, attempts, ageMs } = tip
  const done = (outcome: TipSchedule['outcome']): TipSchedule => ({ id, attempts, dueInMs: null, outcome })
  const later = (dueInMs = waitFor(ageMs)): TipSchedule => ({ id, attempts, dueInMs, outcome: null })
  /** In the time in which it may still turn out otherwise, it is looked at again. */
  const doneLate = (outcome: TipSchedule['outcome']) => (ageMs > giveUpMs ? done(outcome) : later())
  if (status === undefined) return later()
  if (status.commitment === 'none') return doneLate('not_found')
  if (status.commitment === 'processed') return later(processedMs)
  // Before finality it may still succeed on another fork.
  if (status.failed) return status.commitment === 'finalized' ? done('tx_failed') : later()
  // The status and the transaction came from different nodes, which disagree.
  if (transaction?.failed === true) return doneLate('tx_failed')
  if (awaitsFinality) return later(Math.max(minFinalityMs, waitFor(ageMs)))
  if (transaction === undefined) return later(isAnswered && ageMs > giveUpMs ? unreadableMs : undefined)
  // A node may know a new transaction before its block time. Without the time a claim cannot be checked.
  return transaction.blockTime === undefined ? doneLate('mismatch') : done('mismatch')
}

/**
 * The state of a confirmed tip on its way to finality. `moved`: finalized in another slot than it was confirmed in, so its
 * effects may differ. `vanished` is only a suspicion: every endpoint must agree before the tip fails.
 */
export type Finality = 'final' | 'moved' | 'wait' | 'missing' | 'vanished'

export function classifyFinality({ slot, missingMs }: DueTip, status: SignatureStatus | undefined): Finality {
  if (status === undefined) return 'wait'
  if (status.commitment === 'finalized' && status.failed) return 'vanished'
  if (status.commitment === 'finalized') return status.slot === slot ? 'final' : 'moved'
  if (status.commitment !== 'none') return 'wait'
  return isMissingLong(missingMs) ? 'vanished' : 'missing'
}

export function isMissingLong(missingMs: number | null): boolean {
  return missingMs !== null && missingMs >= vanishedAfterMs
}

/** When a confirmed tip that is not final is due again. `missing` undefined: no answer. */
export function scheduleConfirmed(
  { id, attempts, ageMs, missingMs }: DueTip,
  missing: boolean | undefined,
): TipSchedule {
  const schedule = { id, attempts, dueInMs: Math.max(minFinalityMs, waitFor(ageMs)), outcome: null }
  // Without an answer it stays missing or not missing, as before.
  return { ...schedule, missing: missing ?? missingMs !== null }
}

/** An eighth of the tip's age: a new tip is checked four times a second, an unknown signature ever more rarely. */
function waitFor(ageMs: number): number {
  return Math.min(maxMs, Math.max(minMs, ageMs / 8))
}
