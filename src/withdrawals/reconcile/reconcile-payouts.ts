import { ProviderError } from '../../kernel/provider-error.js'
import { isFinal } from '../../kernel/state-machine.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { RowJob } from '../../platform/queue/wake-ups.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import { withdrawalLifecycle } from '../lifecycle.js'
import { alarmReview, closeReviews, openReview, type ReviewKind, selfClosingKinds } from '../review/review.js'
import { advanceTo, type LockedWithdrawal, lockWithdrawal } from '../transitions.js'
import { type DueReconciliation, reschedule, takePayoutsToReconcile } from '../work-queue.js'
import { type Decision, decide, providerRules } from './decide.js'

type Needs = Pick<Services, 'db' | 'transact' | 'payouts' | 'config' | 'metrics' | 'log'>

/** The pauses between looks double up to twenty times the first: 3 s to a minute. */
const longestPause = 20
const doublingsMost = 10
/** A person is at it; the provider may still find it by itself. */
const reviewSeconds = 600

/**
 * Asks the provider, by our own reference, about everything that was sent or may have been, and brings the withdrawals
 * to where it says they are. An answer that is none means later, never a verdict.
 */
export function createReconcilerBatch(services: Needs): Batch {
  return async () => {
    const due = await takePayoutsToReconcile(services)
    const pauses = await Promise.all(due.map((one) => look(services, one)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) * 1000 }
  }
}

/** Returns the seconds until it is due again. */
async function look(services: Needs, one: DueReconciliation): Promise<number> {
  try {
    const found = await services.payouts.find(one.providerReference)
    return await apply(services, one, found)
  } catch (error) {
    return await askLater(services, one, error)
  }
}

async function askLater(services: Needs, one: DueReconciliation, error: unknown): Promise<number> {
  const { db, metrics, log } = services
  const known = error instanceof ProviderError
  if (known) metrics.alerts.inc({ kind: 'fiatpay_away' })
  log.warn({ err: error, reference: one.reference }, 'the payout provider gave no usable answer; asked again')
  const pause = pauseAfter(services, one.looks)
  await reschedule(db, one, pause, known ? error.message : 'unexpected error')
  return pause
}

/** Seconds until the next look, after so many. */
function pauseAfter({ config }: Needs, looks: number): number {
  return config.payouts.lookSeconds * Math.min(2 ** Math.min(looks, doublingsMost), longestPause)
}

interface Applied {
  readonly pause: number | null
  /** Whom to call. */
  readonly alarm?: ReviewKind | undefined
}

async function apply(
  services: Needs,
  one: DueReconciliation,
  found: ProviderTransfer | undefined,
): Promise<number> {
  const rules = providerRules(services)
  const applied = await services.transact(async (uow) => {
    const withdrawal = await lockWithdrawal(uow, one.id)
    // Claimed again meanwhile, which makes this answer the older one.
    if (withdrawal?.attempts !== one.attempts) return { pause: null }
    const done = await follow(services, uow, withdrawal, decide(withdrawal, found, rules), found)
    await reschedule(uow.trx, one, done.pause, null)
    return done
  })
  if (applied.alarm !== undefined) alarmReview(services, applied.alarm, one.reference)
  return applied.pause ?? Number.POSITIVE_INFINITY
}

async function follow(
  services: Needs,
  uow: UnitOfWork,
  withdrawal: LockedWithdrawal,
  ruling: Decision,
  found: ProviderTransfer | undefined,
): Promise<Applied> {
  const { id, status, looks, sends, reference } = withdrawal
  const next = isFinal(withdrawalLifecycle, status) ? null : pauseAfter(services, looks)
  if (ruling.kind === 'walk' && found !== undefined) {
    await advanceTo(uow, withdrawal, ruling.to, { providerId: found.id, reason: found.reason })
    await closeReviews(uow, id, selfClosingKinds, `the provider shows it ${found.state}`)
    return { pause: isFinal(withdrawalLifecycle, ruling.to) ? null : next }
  }
  if (ruling.kind === 'resend') {
    await setState(uow, id, 'resend')
    uow.wake('payouts', payoutJob(reference, sends))
    return { pause: 0 }
  }
  if (ruling.kind === 'review') return ask(uow, withdrawal, ruling, found, next)
  if (ruling.kind === 'ask-again' && withdrawal.sendState === 'sending') await setState(uow, id, 'unknown')
  return { pause: withdrawal.sendState === 'manual_review' ? reviewSeconds : next }
}

async function ask(
  uow: UnitOfWork,
  { id, status }: LockedWithdrawal,
  { review, hold }: Extract<Decision, { kind: 'review' }>,
  found: ProviderTransfer | undefined,
  next: number | null,
): Promise<Applied> {
  const held = hold && status === 'pending'
  if (held) await setState(uow, id, 'manual_review')
  const details =
    found === undefined
      ? {}
      : {
          reference: found.reference,
          kobo: String(found.amountKobo),
          state: found.state,
          reason: found.reason,
        }
  const opened = await openReview(uow, { withdrawalId: id, kind: review, details })
  return { pause: held ? reviewSeconds : next, alarm: opened ? review : undefined }
}

async function setState(
  { trx }: UnitOfWork,
  id: string,
  state: 'unknown' | 'resend' | 'manual_review',
): Promise<void> {
  await query(trx, {
    name: 'payouts.state',
    text: `update withdrawals set send_state = $2 where id = $1 and status = 'pending'`,
    values: [id, state],
  })
}

/** The job that stands for one sending of a withdrawal. `sends`: how many there were before. */
export function payoutJob(reference: string, sends: number): RowJob {
  return { id: `payout-${reference}-${sends + 1}`, row: reference }
}
