import { query } from '../platform/db.js'
import type { UnitOfWork } from '../platform/transact.js'
import type { Services } from '../services.js'
import { leaseSeconds, type ToSend } from './due.js'
import { payoutChannel } from './model.js'
import { alarmReview, openReview } from './review.js'
import { failUnpaid, lockWithdrawal } from './settle.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log'>

const errorLength = 200

/**
 * Notes that a request is about to leave, before its first byte does. Committed when it returns. Returns how many may have
 * reached the provider with this one; undefined when the withdrawal is no longer ours to send.
 */
export async function beginSending({ db }: Needs, payout: ToSend): Promise<number | undefined> {
  const [row] = await query<{ sends: number }>(db, {
    name: 'payouts.sending',
    text: /* sql */ `
      update withdrawals
      set send_state = 'sending', sends = sends + 1, sent_at = clock_timestamp(), looks = 0, last_error = null,
          due_at = clock_timestamp() + $4 * interval '1 second'
      where id = $1 and attempts = $2 and send_state = $3 and status = 'pending' returning sends`,
    values: [payout.id, payout.attempts, payout.sendState, leaseSeconds],
  })
  return row?.sends
}

/** The provider took it. That is a fact, whatever was thought of the withdrawal meanwhile. */
export async function noteAccepted(services: Needs, payout: ToSend, providerId: string): Promise<void> {
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
async function openIfFailed(uow: UnitOfWork, { id }: ToSend, providerId: string): Promise<boolean> {
  const withdrawal = await lockWithdrawal(uow, id)
  if (withdrawal?.status !== 'failed') return false
  return openReview(uow, { withdrawalId: id, kind: 'paid_after_failed', details: { providerId } })
}

/** The payee was refused, and nothing was sent before: the only refusal that ends a withdrawal. */
export async function noteRefused({ transact }: Needs, { id }: ToSend, reason: string): Promise<void> {
  await transact(async (uow) => {
    const withdrawal = await lockWithdrawal(uow, id)
    if (withdrawal?.status === 'pending' && withdrawal.sends <= 1) await failUnpaid(uow, withdrawal, reason)
  })
}

/** The one request there was surely executed nothing: it is sent again after a pause. Returns the pause in ms. */
export async function noteUnsent({ db }: Needs, payout: ToSend, error: string): Promise<number> {
  const pause = Math.min(2 ** Math.min(payout.attempts, 6), leaseSeconds)
  await query(db, {
    name: 'payouts.unsent',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', sends = 0, sent_at = null, last_error = $2,
        due_at = clock_timestamp() + $3 * interval '1 second'
      where id = $1 and status = 'pending' and
        (send_state in ('sending', 'unknown') and sends = 1 or send_state = 'not_sent' and attempts = $4)`,
    values: [payout.id, error.slice(0, errorLength), pause, payout.attempts],
  })
  return pause * 1000
}

/** It may have been executed: from now on the provider is asked, and nothing is sent. */
export async function noteUnknown(services: Needs, payout: ToSend, error: string): Promise<void> {
  const { db, config, metrics, log } = services
  metrics.alerts.inc({ kind: 'payout_unanswered' })
  log.warn({ reference: payout.reference, error }, 'the fate of a payout is unknown; the provider is asked')
  await query(db, {
    name: 'payouts.unknown',
    text: /* sql */ `
      update withdrawals set send_state = 'unknown', last_error = $2,
        due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where id = $1 and send_state = 'sending'`,
    values: [payout.id, error.slice(0, errorLength), config.payouts.lookSeconds],
  })
}
