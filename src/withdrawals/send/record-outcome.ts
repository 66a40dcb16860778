import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { alarmReview, openReview } from '../review/review.js'
import { failUnpaid, type LockedWithdrawal, lockWithdrawal } from '../transitions.js'
import { payoutChannel } from '../withdrawal.js'
import { type DuePayout, lastErrorLength } from '../work-queue.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log'>

const pauseSecondsMost = 60

/** One request to send a withdrawal. */
export interface Sending {
  /** How many may have reached the provider with this one. */
  readonly sends: number
  /** When it began: by this it is told from any other. */
  readonly at: Date
}

/**
 * Notes that a request is about to leave, before its first byte does. Committed when it returns. Undefined: the withdrawal
 * is no longer ours to send.
 */
export async function recordSending({ db, config }: Needs, payout: DuePayout): Promise<Sending | undefined> {
  const [row] = await query<Sending>(db, {
    name: 'payouts.sending',
    text: /* sql */ `
      update withdrawals
      set send_state = 'sending', sends = sends + 1, sent_at = clock_timestamp(), looks = 0, last_error = null,
          due_at = clock_timestamp() + $4::float8 * interval '1 second'
      where id = $1 and attempts = $2 and send_state = $3 and status = 'pending' returning sends, sent_at as at`,
    values: [payout.id, payout.attempts, payout.sendState, config.payouts.leaseSeconds],
  })
  return row
}

/** The provider took it. That is a fact, whatever was thought of the withdrawal meanwhile. */
export async function recordAccepted(services: Needs, payout: DuePayout, providerId: string): Promise<void> {
  const { transact, config } = services
  const late = await transact(async (uow) => {
    const rows = await query(uow.trx, {
      name: 'payouts.accepted',
      text: /* sql */ `
        update withdrawals
        set status = 'submitted', send_state = 'sent', submitted_at = clock_timestamp(), provider_id = $2, looks = 0,
            last_error = null, due_at = clock_timestamp() + $3::float8 * interval '1 second'
        where id = $1 and status = 'pending' returning id`,
      values: [payout.id, providerId, config.payouts.lookSeconds],
    })
    if (rows.length > 0) {
      uow.publish(payoutChannel(payout.reference))
      return false
    }
    return openIfFailed(uow, payout, providerId)
  })
  if (late) alarmReview(services, 'paid_after_failed', payout.reference)
}

/** Accepted already is nothing new; accepted after the creator had the money back is paid twice. */
async function openIfFailed(uow: UnitOfWork, { id }: DuePayout, providerId: string): Promise<boolean> {
  const withdrawal = await lockWithdrawal(uow, id)
  if (withdrawal?.status !== 'failed') return false
  return openReview(uow, { withdrawalId: id, kind: 'paid_after_failed', details: { providerId } })
}

/**
 * The payee was refused: the only refusal that ends a withdrawal. It counts only if nothing else was ever sent: `sending`
 * is the request that was refused; without one, the payee was refused before anything was sent.
 */
export async function recordRefused(
  { transact }: Needs,
  payout: DuePayout,
  reason: string,
  sending?: Sending,
): Promise<void> {
  await transact(async (uow) => {
    const withdrawal = await lockWithdrawal(uow, payout.id)
    if (withdrawal?.status !== 'pending') return
    const stillOurs =
      sending === undefined
        ? withdrawal.sendState === 'not_sent' && withdrawal.attempts === payout.attempts
        : isOnlySending(withdrawal, sending)
    if (stillOurs) await failUnpaid(uow, withdrawal, reason)
  })
}

function isOnlySending({ sends, sentAt }: LockedWithdrawal, sending: Sending): boolean {
  return sends === 1 && sentAt?.getTime() === sending.at.getTime()
}

/**
 * Nothing was ever executed, which is our fault or nobody's: it is sent again after a pause. `sending`: the one request
 * there was; without one there was none. Returns the pause in ms.
 */
export async function recordUnsent(
  { db }: Needs,
  payout: DuePayout,
  error: string,
  sending?: Sending,
): Promise<number> {
  const pause = Math.min(2 ** Math.min(payout.attempts, 6), pauseSecondsMost)
  await query(db, {
    name: 'payouts.unsent',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', sends = 0, sent_at = null, last_error = $2,
        due_at = clock_timestamp() + $3 * interval '1 second'
      where id = $1 and status = 'pending' and case when $5::timestamptz is null
        then send_state = 'not_sent' and attempts = $4
        else send_state in ('sending', 'unknown') and sends = 1 and sent_at = $5 end`,
    values: [payout.id, error.slice(0, lastErrorLength), pause, payout.attempts, sending?.at ?? null],
  })
  return pause * 1000
}

/** It may have been executed: from now on the provider is asked, and nothing is sent. */
export async function recordUnknown(services: Needs, payout: DuePayout, error: string): Promise<void> {
  const { db, config, metrics, log } = services
  metrics.alerts.inc({ kind: 'payout_unanswered' })
  log.warn({ reference: payout.reference, error }, 'the fate of a payout is unknown; the provider is asked')
  await query(db, {
    name: 'payouts.unknown',
    text: /* sql */ `
      update withdrawals set send_state = 'unknown', last_error = $2,
        due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where id = $1 and send_state = 'sending'`,
    values: [payout.id, error.slice(0, lastErrorLength), config.payouts.lookSeconds],
  })
}
