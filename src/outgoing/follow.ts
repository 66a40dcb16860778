import { ProviderError } from '../kernel/provider-error.js'
import { countTaken, finishRows, takeDueRows } from '../platform/database/due-rows.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { ProviderTransfer } from '../ports/payouts.js'
import { type Decision, decide, type ReviewReason, selfClosingKinds } from './decide.js'
import type { DueToFollow, LockedOutgoing, OutgoingKind, OutgoingServices } from './kind.js'
import { hasEnded } from './lifecycle.js'
import { advanceTo, setSendState } from './steps.js'

const maxDoublings = 10
/** Pause while a person decides. The provider may still show it. */
const reviewPauseSeconds = 600
const maxText = 200

/**
 * Asks the provider, by our own reference, about every row that was or may have been sent, and follows its answer. Without a usable
 * answer it asks again later and decides nothing.
 */
export function createFollowBatch<Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: OutgoingKind<Row>,
): Batch {
  return async () => {
    const due = await takeDueRows<DueToFollow>(services.db, kind.toFollow)
    const pauses = await Promise.all(due.map((row) => followRow(services, kind, row)))
    return { ...countTaken(due, kind.toFollow), nextDueMs: Math.min(...pauses) * 1000 }
  }
}

/** Returns the seconds until it is due again. */
export async function followRow<Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: OutgoingKind<Row>,
  due: DueToFollow,
): Promise<number> {
  try {
    return await decideAndFollow(services, kind, due, await kind.find(due))
  } catch (error) {
    return await askLater(services, kind, due, error)
  }
}

async function askLater<Row extends LockedOutgoing>(
  { db, metrics, log }: OutgoingServices,
  kind: OutgoingKind<Row>,
  due: DueToFollow,
  error: unknown,
): Promise<number> {
  const isProviderError = error instanceof ProviderError
  if (isProviderError) metrics.alerts.inc({ kind: 'fiatpay_away' })
  log.warn(
    { ...kind.fieldsOf(due), err: error },
    'the naira provider gave no usable answer; it is asked again later',
  )
  const pause = pauseAfter(kind, due.polls)
  await reschedule(db, kind, due, pause, isProviderError ? error.message : 'unexpected error')
  return pause
}

/** Sets when the provider is asked again; null: never. */
async function reschedule<Row extends LockedOutgoing>(
  db: UnitOfWork['trx'] | OutgoingServices['db'],
  kind: OutgoingKind<Row>,
  { id, attempts }: DueToFollow,
  seconds: number | null,
  error?: string,
): Promise<void> {
  const dueInMs = seconds === null ? null : seconds * 1000
  await finishRows(db, kind.toFollow, [{ id, attempts, dueInMs, error: error?.slice(0, maxText) }])
}

/** Seconds until the next question, after so many. They double. */
function pauseAfter<Row extends LockedOutgoing>(
  { pauses: { first, longest } }: OutgoingKind<Row>,
  polls: number,
): number {
  return Math.min(first * 2 ** Math.min(polls, maxDoublings), longest)
}

interface Followed {
  /** Seconds until the next question; null: none; undefined: none, and the row says so already. */
  readonly pause: number | null | undefined
  /** The review that was opened: raises an alarm after the commit. */
  readonly opened?: ReviewReason | undefined
  /** Why a person must act, where the row itself keeps that. */
  readonly note?: string | undefined
}

async function decideAndFollow<Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: OutgoingKind<Row>,
  due: DueToFollow,
  found: ProviderTransfer | undefined,
): Promise<number> {
  const attention = found?.attention
  const followed = await services.transact(async (uow): Promise<Followed> => {
    const row = await kind.lock(uow, due.id)
    // Another worker has taken the row since, so this answer is outdated.
    if (row?.attempts !== due.attempts) return { pause: null }
    const done = await follow(uow, kind, row, decide(row, found, kind.rules), found)
    if (done.pause !== undefined) await reschedule(uow.trx, kind, due, done.pause, attention ?? done.note)
    return done
  })
  if (followed.opened !== undefined) kind.alarm(due, followed.opened, textOf(found))
  if (attention !== undefined) kind.alarm(due, 'attention', attention)
  return followed.pause ?? Number.POSITIVE_INFINITY
}

async function follow<Row extends LockedOutgoing>(
  uow: UnitOfWork,
  kind: OutgoingKind<Row>,
  row: Row,
  decision: Decision,
  found: ProviderTransfer | undefined,
): Promise<Followed> {
  const next = hasEnded(row.status) ? kind.watchPause(row, found) : pauseAfter(kind, row.polls)
  if (decision.kind === 'advance' && found !== undefined) {
    const { id: providerId, reason, feeKobo } = found
    const after = await advanceTo(uow, kind, row, decision.to, { providerId, reason, feeKobo })
    await kind.closeReviews(uow, after, selfClosingKinds, found.state)
    return { pause: hasEnded(decision.to) ? undefined : next }
  }
  if (decision.kind === 'resend') {
    await setSendState(uow, kind, row, 'resend')
    kind.wakeSender(uow, row)
    return { pause: 0 }
  }
  if (decision.kind === 'agree' && found !== undefined)
    await kind.outdateReviews(uow, row, decision.outdated, found)
  if (decision.kind === 'review') return askPerson(uow, kind, row, decision, found, next)
  if (decision.kind === 'poll-again' && row.sendState === 'sending')
    await setSendState(uow, kind, row, 'unknown')
  // It shows again what was missing, or what was asked for.
  if (decision.kind === 'none' && found !== undefined && !hasEnded(row.status))
    await kind.closeReviews(uow, row, selfClosingKinds, found.state)
  return { pause: row.sendState === 'manual_review' ? reviewPauseSeconds : next }
}

async function askPerson<Row extends LockedOutgoing>(
  uow: UnitOfWork,
  kind: OutgoingKind<Row>,
  row: Row,
  { review, hold }: Extract<Decision, { kind: 'review' }>,
  found: ProviderTransfer | undefined,
  next: number | null,
): Promise<Followed> {
  const isHeld = hold && row.status === 'pending'
  if (isHeld) await setSendState(uow, kind, row, 'manual_review')
  const isNew = await kind.openReview(uow, row, review, found)
  return {
    pause: isHeld ? reviewPauseSeconds : next,
    opened: isNew ? review : undefined,
    note: kind.noteOf(review),
  }
}

function textOf(found: ProviderTransfer | undefined): string {
  return found === undefined ? 'the provider does not show it' : `the provider shows it ${found.state}`
}
