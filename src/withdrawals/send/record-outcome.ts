import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { alarmReview, openReview } from '../review/review.js'
import { announceOutcome, failUnpaid, type LockedWithdrawal, lockWithdrawal } from '../withdrawal.js'
import { type DuePayout, maxErrorLength, type SendCount } from '../work-queue.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log'>

const maxPauseSeconds = 60

/** One request to send a withdrawal. */
export interface Sending {
  /** The number of requests that may have reached the provider, this one included. */
  readonly sends: number
  /** When it began. Distinguishes it from other requests. */
  readonly at: Date
}

/**
 * Records that a request is about to be sent, before its first byte is. Committed on return. Undefined: this worker may not
 * send the withdrawal any more.
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

/** The provider accepted the payout. This counts even if the row has changed meanwhile. */
export async function recordAccepted(services: Needs, payout: DuePayout, providerId: string): Promise<void> {
  const { transact, config } = services
  const opened = await transact(async (uow) => {
    const [accepted] = await query<SendCount>(uow.trx, {
      name: 'payouts.accepted',
      text: /* sql */ `
        update withdrawals
        set status = 'submitted', send_state = 'sent', submitted_at = clock_timestamp(), provider_id = $2, looks = 0,
            last_error = null, due_at = clock_timestamp() + $3::float8 * interval '1 second'
        where id = $1 and status = 'pending' returning reference, sends, replays`,
      values: [payout.id, providerId, config.payouts.pollSeconds],
    })
    if (accepted !== undefined) {
      announceOutcome(uow, accepted)
      return false
    }
    return reviewIfFailed(uow, payout, providerId)
  })
  if (opened) alarmReview(services, 'paid_after_failed', payout.reference)
}

/** A repeated acceptance is no news. An acceptance after the creator got the money back means that it is paid twice. */
async function reviewIfFailed(uow: UnitOfWork, { id }: DuePayout, providerId: string): Promise<boolean> {
  const withdrawal = await lockWithdrawal(uow, id)
  if (withdrawal?.status !== 'failed') return false
  return openReview(uow, { withdrawalId: id, kind: 'paid_after_failed', details: { providerId } })
}

/**
 * The provider refuses the payee. Only this refusal fails a withdrawal, and only if no other request was ever sent. `sending`:
 * the refused request. Undefined: the payee was refused before anything was sent.
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
 * Nothing was executed, and the payee is not the reason. The payout is sent again after a pause. `sending`: the only request
 * so far. Undefined: there was none. Returns the pause in ms.
 */
export async function recordUnsent(
  { db }: Needs,
  payout: DuePayout,
  error: string,
  sending?: Sending,
): Promise<number> {
  const pause = Math.min(2 ** Math.min(payout.attempts, 6), maxPauseSeconds)
  await query(db, {
    name: 'payouts.unsent',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', sends = 0, sent_at = null, last_error = $2,
        due_at = clock_timestamp() + $3 * interval '1 second'
      where id = $1 and status = 'pending' and case when $5::timestamptz is null
        then send_state = 'not_sent' and attempts = $4
        else send_state in ('sending', 'unknown') and sends = 1 and sent_at = $5 end`,
    values: [payout.id, error.slice(0, maxErrorLength), pause, payout.attempts, sending?.at ?? null],
  })
  return pause * 1000
}

/** The payout may have been executed. From now on the provider is polled, and nothing is sent. */
export async function recordUnknown(services: Needs, payout: DuePayout, error: string): Promise<void> {
  const { db, config, metrics, log } = services
  metrics.alerts.inc({ kind: 'payout_unanswered' })
  log.warn(
    { reference: payout.reference, error },
    'it is unknown whether a payout was executed; the reconciler asks the provider',
  )
  await query(db, {
    name: 'payouts.unknown',
    text: /* sql */ `
      update withdrawals set send_state = 'unknown', last_error = $2,
        due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where id = $1 and send_state = 'sending'`,
    values: [payout.id, error.slice(0, maxErrorLength), config.payouts.pollSeconds],
  })
}
