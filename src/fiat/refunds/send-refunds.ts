import { ProviderError } from '../../kernel/provider-error.js'
import { type DueRows, takeDueRows } from '../../platform/database/due-rows.js'
import { runsSql } from '../../platform/database/switches/switches.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { ProviderRefund, Refunds } from '../../ports/refunds.js'
import type { Services } from '../../services.js'
import { followedStates } from '../lifecycle.js'
import { listRefundsOf } from '../suspense/refund.js'
import { asRequested, decideNext } from './decide-next.js'
import {
  endFailed,
  endPaid,
  notFrozen,
  notReturned,
  recordPause,
  recordSending,
  recordShown,
  recordUnsent,
} from './record-outcome.js'
import { refundColumns, type TipRefund } from './refund.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log'> & { readonly refunds: Refunds }

const batchSize = 16
/** A process that was paused this long after `recordSending` does not send: others may have decided about the row. */
const staleMs = 5000
const firstPauseSeconds = 2
/** Some refunds take days. Their webhook usually comes first. */
const longestPauseSeconds = 3600
/** What cannot be sent now is tried again after this. */
const longestRetrySeconds = 300
const never = Number.POSITIVE_INFINITY

/** Refunds that have work to do. What was not sent waits while its account is frozen, and all of it while payouts are paused. */
export const sendable = `(state <> 'not_sent' or ${notFrozen} and ${runsSql('payouts')})`

function refundQueue({ leaseSeconds }: Services['config']['payouts']): DueRows {
  return {
    name: 'refunds',
    table: 'refunds',
    id: 'text',
    batchSize,
    leaseSeconds,
    condition: sendable,
    columns: refundColumns,
  }
}

/**
 * Sends the refunds that creators ask for, and follows them to their end. No other code sends them. This order prevents a second
 * one, as the provider has no idempotency key for refunds: `sending` is committed before the first byte is sent, and a row in
 * `sending` is looked for in the provider's list, never sent. An outcome is only what the provider shows, or the refusal of the
 * only request. Everything else is unknown, and a person decides. What is older than an accepted restore is looked for in the list
 * before it is sent (docs/decisions/0072).
 */
export function createRefundBatch(services: Needs): Batch {
  return async () => {
    const due = await takeDueRows<TipRefund>(services.db, refundQueue(services.config.payouts))
    const pauses = await Promise.all(due.map((refund) => workOn(services, refund)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

/** Returns the ms until the refund is due again. After an unexpected failure it is due when its lease ends. */
async function workOn(services: Needs, refund: TipRefund): Promise<number> {
  try {
    const isNew = refund.state === 'not_sent' && refund.sinceRestore === null
    const seconds = isNew ? await sendRefund(services, refund) : await followRefund(services, refund)
    return seconds * 1000
  } catch (error) {
    services.log.error(
      { err: error, refund: refund.id, tip: refund.intentId },
      'a refund failed unexpectedly; a worker takes it again',
    )
    return never
  }
}

async function sendRefund(services: Needs, refund: TipRefund): Promise<number> {
  const { db, config, refunds } = services
  const { id, transaction, kobo } = refund
  const startedAt = performance.now()
  const sentAt = await recordSending(db, refund, config.payouts.leaseSeconds)
  if (sentAt === undefined) return never
  services.log.info({ refund: id, tip: refund.intentId }, 'a refund is being sent')
  if (performance.now() - startedAt > staleMs) {
    await recordUnsent(db, id, { sentAt, reason: 'the worker was paused before it sent', pauseSeconds: 0 })
    return 0
  }
  const outcome = await refunds
    .request({ transaction, kobo, note: id })
    .catch((error: unknown) =>
      error instanceof ProviderError ? error : new ProviderError('ambiguous', 'unexpected error'),
    )
  if (!(outcome instanceof ProviderError)) return apply(services, { ...refund, sinceSent: 0 }, outcome)
  return handleFailure(services, refund, outcome, sentAt)
}

async function handleFailure(
  services: Needs,
  refund: TipRefund,
  { kind, message }: ProviderError,
  sentAt: Date,
): Promise<number> {
  const { db, transact, log } = services
  if (kind === 'unavailable') {
    const pauseSeconds = Math.min(2 ** Math.min(refund.attempts, 10), longestRetrySeconds)
    await recordUnsent(db, refund.id, { sentAt, reason: message, pauseSeconds })
    alarm(services, refund, `it cannot be sent now: ${message}`)
    return pauseSeconds
  }
  if (kind === 'rejected') {
    const failure = { reason: message, from: ['sending'], sentAt, once: true } as const
    // A refusal of a repeated request says nothing about the request before it.
    if (await transact((uow) => endFailed(uow, services, refund.id, failure))) return never
  }
  log.warn(
    { refund: refund.id, tip: refund.intentId, error: message },
    'it is unknown whether a refund was taken; the provider is asked',
  )
  await recordPause(db, refund, message, firstPauseSeconds)
  return firstPauseSeconds
}

/** Asks the provider. What stands as not sent is sent when the provider certainly does not have it; otherwise it counts as sent. */
async function followRefund(services: Needs, refund: TipRefund): Promise<number> {
  const { db, transact, config, refunds } = services
  let shown: ProviderRefund[]
  try {
    shown = await listRefundsOf(refunds, refund)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    services.metrics.alerts.inc({ kind: 'fiatpay_away' })
    return pause(services, refund, error.message)
  }
  const step = decideNext(asRequested(refund), shown, config.payouts.settleSeconds)
  if (refund.state === 'not_sent') {
    if (step.kind === 'missing') return sendRefund(services, refund)
    if (step.kind !== 'wait' && (await recordSending(db, refund, config.payouts.leaseSeconds)) === undefined)
      return never
  }
  switch (step.kind) {
    case 'follow':
      return apply(services, refund, step.shown)
    case 'failed': {
      const failure = { reason: notReturned, from: followedStates }
      await transact((uow) => endFailed(uow, services, refund.id, failure))
      return never
    }
    case 'wait':
      return pause(services, refund, refund.lastError)
    case 'missing':
      alarm(services, refund, missing)
      return pause(services, refund, missing)
    case 'refuse':
      alarm(services, refund, step.reason)
      await recordPause(db, refund, step.reason, pauseOf(refund))
      return pauseOf(refund)
  }
}

const missing = 'the provider shows no such refund'
const waitsThere = 'it waits for somebody at the pages of the provider'

/** Follows what the provider shows of the refund. */
async function apply(services: Needs, refund: TipRefund, shown: ProviderRefund): Promise<number> {
  const { db, transact, log } = services
  if (shown.state === 'paid') {
    await transact((uow) => endPaid(uow, services, refund.id, { providerId: shown.id }))
    return never
  }
  if (shown.state === 'failed') {
    const failure = { reason: notReturned, from: followedStates }
    await transact((uow) => endFailed(uow, services, refund.id, failure))
    return never
  }
  const reason = shown.state === 'attention' ? waitsThere : null
  if (reason !== null) alarm(services, refund, reason)
  else if (refund.state !== 'sent')
    log.info({ refund: refund.id, tip: refund.intentId }, 'the provider has a refund')
  const pauseSeconds = pauseOf(refund)
  await recordShown(db, refund, shown, { reason, pauseSeconds })
  return pauseSeconds
}

async function pause({ db }: Needs, refund: TipRefund, reason: string | null): Promise<number> {
  const seconds = pauseOf(refund)
  await recordPause(db, refund, reason, seconds)
  return seconds
}

function pauseOf(refund: TipRefund): number {
  const longest = refund.state === 'not_sent' ? longestRetrySeconds : longestPauseSeconds
  return Math.min(Math.max((asRequested(refund).sinceSent ?? 0) / 2, firstPauseSeconds), longest)
}

/** A person has to look at it. */
function alarm({ metrics, log }: Needs, { id, intentId }: TipRefund, reason: string): void {
  metrics.alerts.inc({ kind: 'tip_refund' })
  log.error(
    { refund: id, tip: intentId, reason },
    'a refund waits for an operator. Run: npm run ops -- refunds',
  )
}
