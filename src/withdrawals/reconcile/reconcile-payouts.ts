import type { Knex } from 'knex'
import { ProviderError } from '../../kernel/provider-error.js'
import { isFinal } from '../../kernel/state-machine.js'
import { finishRows, takeDueRows } from '../../platform/database/due-rows.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import { advanceWithdrawal } from '../advance.js'
import { statusMachine } from '../lifecycle.js'
import {
  type AlarmedReview,
  alarmReview,
  closeReviews,
  openReview,
  outdateReviews,
  selfClosingKinds,
} from '../reviews.js'
import { advanceTo, type LockedWithdrawal, lockWithdrawal } from '../withdrawal.js'
import { type DueReconciliation, maxErrorLength, payoutJob, reconcilerQueue } from '../work-queue.js'
import { type Decision, decide, providerRules } from './decide.js'

type Needs = Pick<Services, 'db' | 'transact' | 'payouts' | 'config' | 'metrics' | 'log'>

/** The pauses between polls double, up to twenty times the first: from 3 s to a minute by default. */
const maxPauseFactor = 20
const maxDoublings = 10
/** After a re-credit the provider transfer is polled for so long, and at least once a day. */
const watchSeconds = 90 * 86_400
const maxWatchPauseSeconds = 86_400
const maxWatchDoublings = 20
/** Pause while a person decides. The provider may still find the transfer. */
const reviewPauseSeconds = 600

/**
 * Polls the provider, by our own reference, about every withdrawal that was or may have been sent, and follows its answer.
 * Without a usable answer it polls again later and decides nothing.
 */
export function createReconcilerBatch(services: Needs): Batch {
  return async () => {
    const due = await takeDueRows<DueReconciliation>(services.db, reconcilerQueue(services.config.payouts))
    const pauses = await Promise.all(due.map((payout) => reconcile(services, payout)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) * 1000 }
  }
}

/** Returns the seconds until it is due again. */
async function reconcile(services: Needs, payout: DueReconciliation): Promise<number> {
  try {
    const found = await services.payouts.findTransfer(payout.providerReference)
    return await decideAndFollow(services, payout, found)
  } catch (error) {
    return await pollLater(services, payout, error)
  }
}

async function pollLater(services: Needs, payout: DueReconciliation, error: unknown): Promise<number> {
  const { db, metrics, log } = services
  const isProviderError = error instanceof ProviderError
  if (isProviderError) metrics.alerts.inc({ kind: 'fiatpay_away' })
  log.warn(
    { err: error, reference: payout.reference, requestId: payout.requestId },
    'the payout provider gave no usable answer; it is polled again later',
  )
  const pause = pauseAfter(services, payout.polls)
  await reschedule(services, db, payout, pause, isProviderError ? error.message : 'unexpected error')
  return pause
}

/** Sets when a withdrawal is polled again; null: never. */
async function reschedule(
  { config }: Needs,
  db: Knex,
  { id, attempts }: DueReconciliation,
  seconds: number | null,
  error?: string,
): Promise<void> {
  const dueInMs = seconds === null ? null : seconds * 1000
  await finishRows(db, reconcilerQueue(config.payouts), [
    { id, attempts, dueInMs, error: error?.slice(0, maxErrorLength) },
  ])
}

/** Seconds until the next poll, after so many. */
function pauseAfter({ config }: Needs, polls: number): number {
  return config.payouts.pollSeconds * Math.min(2 ** Math.min(polls, maxDoublings), maxPauseFactor)
}

/** Seconds until the next poll of a withdrawal at its end; null: none, because the creator was not credited again lately. */
function watchPause({ config }: Needs, { sinceRecredit, polls }: LockedWithdrawal): number | null {
  if (sinceRecredit === null || sinceRecredit > watchSeconds) return null
  return Math.min(config.payouts.pollSeconds * 2 ** Math.min(polls, maxWatchDoublings), maxWatchPauseSeconds)
}

interface Followed {
  /** Seconds until the next poll; null: none. */
  readonly pause: number | null
  /** The review that was opened: raises an alarm after the commit. */
  readonly alarm?: AlarmedReview | undefined
}

async function decideAndFollow(
  services: Needs,
  payout: DueReconciliation,
  found: ProviderTransfer | undefined,
): Promise<number> {
  const rules = providerRules(services)
  const followed = await services.transact(async (uow) => {
    const withdrawal = await lockWithdrawal(uow, payout.id)
    // Another worker has taken the row since, so this answer is outdated.
    if (withdrawal?.attempts !== payout.attempts) return { pause: null }
    const done = await followPayout(services, uow, withdrawal, decide(withdrawal, found, rules), found)
    await reschedule(services, uow.trx, payout, done.pause)
    return done
  })
  if (followed.alarm !== undefined) alarmReview(services, followed.alarm, payout)
  return followed.pause ?? Number.POSITIVE_INFINITY
}

async function followPayout(
  services: Needs,
  uow: UnitOfWork,
  withdrawal: LockedWithdrawal,
  decision: Decision,
  found: ProviderTransfer | undefined,
): Promise<Followed> {
  const { id, status, polls } = withdrawal
  const next = isFinal(statusMachine, status) ? watchPause(services, withdrawal) : pauseAfter(services, polls)
  if (decision.kind === 'advance' && found !== undefined) {
    const answer = { providerId: found.id, reason: found.reason, feeKobo: found.feeKobo }
    await advanceTo(uow, services.config, withdrawal, decision.to, answer)
    await closeReviews(uow, id, selfClosingKinds, `the provider shows it ${found.state}`)
    return { pause: isFinal(statusMachine, decision.to) ? null : next }
  }
  if (decision.kind === 'resend') {
    await setState(uow, withdrawal, 'resend')
    uow.wake('payouts', payoutJob(withdrawal))
    return { pause: 0 }
  }
  if (decision.kind === 'agree' && found !== undefined)
    await outdateReviews(uow, id, decision.outdated, `the provider shows it ${found.state} again`)
  if (decision.kind === 'review') return requestReview(uow, withdrawal, decision, found, next)
  if (decision.kind === 'poll-again' && withdrawal.sendState === 'sending')
    await setState(uow, withdrawal, 'unknown')
  return { pause: withdrawal.sendState === 'manual_review' ? reviewPauseSeconds : next }
}

async function requestReview(
  uow: UnitOfWork,
  withdrawal: LockedWithdrawal,
  { review, hold }: Extract<Decision, { kind: 'review' }>,
  found: ProviderTransfer | undefined,
  next: number | null,
): Promise<Followed> {
  const isHeld = hold && withdrawal.status === 'pending'
  if (isHeld) await setState(uow, withdrawal, 'manual_review')
  const details =
    found === undefined
      ? {}
      : {
          reference: found.reference,
          kobo: String(found.amountKobo),
          currency: found.currency,
          state: found.state,
          reason: found.reason,
        }
  const opened = await openReview(uow, { withdrawalId: withdrawal.id, kind: review, details })
  return { pause: isHeld ? reviewPauseSeconds : next, alarm: opened ? review : undefined }
}

async function setState(
  uow: UnitOfWork,
  { id, sendState }: LockedWithdrawal,
  to: 'unknown' | 'resend' | 'manual_review',
): Promise<void> {
  await advanceWithdrawal(uow, { name: 'payouts.state', id, from: [sendState], to })
}
