import { sourcesOf } from '../../kernel/state-machine.js'
import { lockSwitch, runsLockedSql } from '../../platform/database/switches/switches.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { advanceWithdrawal, type StepPlace } from '../advance.js'
import { sendMachine, unansweredStates } from '../lifecycle.js'
import { alarmReview, openReview } from '../reviews.js'
import { announceOutcome, failUnpaid, type LockedWithdrawal, lockWithdrawal } from '../withdrawal.js'
import { type DuePayout, isCovered, maxErrorLength, notFrozen, type SendCount } from '../work-queue.js'
import { alarmBreaker, findLimitWait, type LimitWait, payoutLimits, waitForLimit } from './limits.js'

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
 * send the withdrawal any more, or it waits for a payout limit or the pause. Both are decided in the transaction that commits
 * `sending`, and nothing else leads to a request, so they hold for whatever is sent.
 */
export async function recordSending(services: Needs, payout: DuePayout): Promise<Sending | undefined> {
  const { db, transact, config, log } = services
  const limits = payout.released ? [] : payoutLimits(config.payouts)
  if (limits.length === 0) return beginSending({ trx: db, log: log.info.bind(log) }, config, payout)
  const outcome = await transact(async (uow): Promise<Sending | LimitWait | undefined> => {
    if (!(await lockSwitch(uow.trx, 'payouts'))) return undefined
    const wait = await findLimitWait(uow, payout, limits)
    if (wait === undefined) return beginSending(uow, config, payout)
    await waitForLimit(uow, payout, wait)
    return wait
  })
  if (outcome === undefined || !('limit' in outcome)) return outcome
  if (!payout.waited) alarmBreaker(services, payout, outcome)
  return undefined
}

/** Takes the lock of the switch before that of the withdrawal. */
async function beginSending(
  place: StepPlace,
  config: Needs['config'],
  payout: DuePayout,
): Promise<Sending | undefined> {
  const [row] = await advanceWithdrawal<Sending>(place, {
    name: 'payouts.sending',
    id: payout.id,
    from: [payout.sendState],
    to: 'sending',
    set: `sends = sends + 1, sent_at = clock_timestamp(), counted_at = clock_timestamp(), looks = 0, last_error = null,
      breaker = null, breaker_since = null,
      due_at = clock_timestamp() + $7::float8 * interval '1 second'`,
    // A worker may have taken it before its account was frozen, or before a dispute.
    where: `attempts = $6 and ${notFrozen} and ${isCovered} and ${runsLockedSql('payouts')}`,
    values: [payout.attempts, config.payouts.leaseSeconds],
    returning: 'sends, sent_at as at',
  })
  return row
}

/** How long we took, as SQL: not what its creator or an identity took. Null when it waited for a payout limit. */
const secondsToSend = /* sql */ `case when breaker_since is null then extract(epoch from clock_timestamp() - greatest(created_at,
  confirmed_at, breaker_released_at, (select identity_verified_at from users u where u.id = user_id)))::float8 end`

/** The provider accepted the payout. This counts even if the row has changed meanwhile. */
export async function recordAccepted(services: Needs, payout: DuePayout, providerId: string): Promise<void> {
  const { transact, config, metrics } = services
  let seconds: number | null = null
  const opened = await transact(async (uow) => {
    const [accepted] = await advanceWithdrawal<SendCount & { readonly seconds: number | null }>(uow, {
      name: 'payouts.accepted',
      id: payout.id,
      status: ['pending', 'submitted'],
      from: sourcesOf(sendMachine, 'sent'),
      to: 'sent',
      set: `provider_id = $6, looks = 0, last_error = null,
        due_at = clock_timestamp() + $7::float8 * interval '1 second'`,
      values: [providerId, config.payouts.pollSeconds],
      returning: `reference, sends, replays, request_id as "requestId", ${secondsToSend} as seconds`,
    })
    seconds = accepted?.seconds ?? null
    if (accepted !== undefined) {
      announceOutcome(uow, accepted)
      return false
    }
    return reviewIfFailed(uow, payout, providerId)
  })
  if (seconds !== null) metrics.withdrawalSendSeconds.observe(seconds)
  if (opened) alarmReview(services, 'paid_after_failed', payout)
}

/** A repeated acceptance is no news. An acceptance after the creator got the money back means that it is paid twice. */
async function reviewIfFailed(uow: UnitOfWork, { id }: DuePayout, providerId: string): Promise<boolean> {
  const withdrawal = await lockWithdrawal(uow, id)
  // Every state after a request can become `sent`, so this is no state that an acceptance may find.
  if (withdrawal?.status === 'pending') throw new Error(`a payout was accepted in ${withdrawal.sendState}`)
  if (withdrawal?.status !== 'failed') return false
  return openReview(uow, { withdrawalId: id, kind: 'paid_after_failed', details: { providerId } })
}

/**
 * The provider refuses the payee. Only this refusal fails a withdrawal, and only if no other request was ever sent. `sending`:
 * the refused request. Undefined: the payee was refused before anything was sent.
 */
export async function recordRefused(
  { transact, config }: Needs,
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
    if (!stillOurs) return
    // Before anything is sent or refused, what may be at the provider was looked up there (send-payouts.ts).
    const asked = new Map(payout.looksUp ? [[payout.id, false]] : [])
    await failUnpaid(uow, config, withdrawal, { reason, asked })
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
  { db, log }: Needs,
  payout: DuePayout,
  error: string,
  sending?: Sending,
): Promise<number> {
  const pause = Math.min(2 ** Math.min(payout.attempts, 6), maxPauseSeconds)
  await advanceWithdrawal(
    { trx: db, log: log.info.bind(log) },
    {
      name: 'payouts.unsent',
      id: payout.id,
      from: sending === undefined ? ['not_sent'] : unansweredStates,
      to: 'not_sent',
      set: `sends = 0, sent_at = null, last_error = $6, due_at = clock_timestamp() + $7 * interval '1 second'`,
      where: 'case when $9::timestamptz is null then attempts = $8 else sends = 1 and sent_at = $9 end',
      values: [error.slice(0, maxErrorLength), pause, payout.attempts, sending?.at ?? null],
    },
  )
  return pause * 1000
}

/** The payout may have been executed. From now on the provider is polled, and nothing is sent. */
export async function recordUnknown(services: Needs, payout: DuePayout, error: string): Promise<void> {
  const { db, config, metrics, log } = services
  metrics.alerts.inc({ kind: 'payout_unanswered' })
  log.warn(
    { reference: payout.reference, requestId: payout.requestId, error },
    'it is unknown whether a payout was executed; the reconciler asks the provider',
  )
  await advanceWithdrawal(
    { trx: db, log: log.info.bind(log) },
    {
      name: 'payouts.unknown',
      id: payout.id,
      from: ['sending'],
      to: 'unknown',
      set: `last_error = $6, due_at = clock_timestamp() + $7::float8 * interval '1 second'`,
      values: [error.slice(0, maxErrorLength), config.payouts.pollSeconds],
    },
  )
}
