import { ProviderError } from '../kernel/provider-error.js'
import { countTaken, takeDueRows } from '../platform/database/due-rows.js'
import { lockSwitch } from '../platform/database/switches/switches.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import { provesAbsence } from './guards.js'
import type {
  DueToSend,
  LockedOutgoing,
  OutgoingEnds,
  OutgoingServices,
  Prepared,
  SendingKind,
} from './kind.js'
import {
  beginSending,
  failUnpaid,
  type Sending,
  setAccepted,
  setShownAgain,
  setUnknown,
  setUnsent,
} from './steps.js'

/** A process that was paused this long after `recordSending` does not send: others may have decided about the row. */
const staleMs = 5000
const longestPauseSeconds = 60
const never = Number.POSITIVE_INFINITY

/**
 * Sends due rows. No other code does. This order prevents a second payment (docs/decisions/0019): `sending` is committed before the
 * first byte is sent, and a row in `sending` is looked for at the provider, never sent. An outcome is only an acceptance, or a
 * documented refusal of the only request so far. Everything else is unknown.
 */
export function createSendBatch<Due extends DueToSend, Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: SendingKind<Due, Row>,
): Batch {
  return async () => {
    const due = await takeDueRows<Due>(services.db, kind.toSend)
    const pauses = await Promise.all(due.map((row) => sendRow(services, kind, row)))
    return { ...countTaken(due, kind.toSend), nextDueMs: Math.min(...pauses) * 1000 }
  }
}

/** Returns the seconds until the row is due to be sent again. After an unexpected failure it is due when its lease ends. */
export async function sendRow<Due extends DueToSend, Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
): Promise<number> {
  const takenAt = performance.now()
  try {
    // Since it was decided to send it again the provider may show the request before, and takes a second one of such a kind.
    const isAgain = due.sendState === 'resend' && !kind.rules.deduplicates
    if (isAgain && (await isShown(services, kind, due))) return never
    const looked = due.looksUp ? await lookUp(services, kind, due) : undefined
    if (looked !== undefined) return looked
    const prepared = await kind.prepare(due)
    return prepared === undefined ? never : await send(services, kind, due, prepared, takenAt)
  } catch (error) {
    if (error instanceof ProviderError) return handleUnprepared(services, kind, due, error)
    services.log.error(
      { ...kind.fieldsOf(due), err: error },
      `${kind.table.subject} failed unexpectedly; a worker takes it again`,
    )
    return never
  }
}

/** The provider shows an earlier request of a row that is to be sent again: it is followed instead. Throws ProviderError. */
async function isShown<Due extends DueToSend, Row extends LockedOutgoing>(
  { db, log }: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
): Promise<boolean> {
  if ((await kind.find(due)) === undefined) return false
  await setShownAgain({ trx: db, log: log.info.bind(log) }, kind, due)
  return true
}

/**
 * After a restore the provider may have what these rows have not sent (docs/decisions/0072). Then it counts as sent, and is
 * followed. Returns as `sendRow`; undefined: the provider certainly does not have it.
 */
async function lookUp<Due extends DueToSend, Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
): Promise<number | undefined> {
  let id: string | undefined
  try {
    id = (await kind.find(due))?.id
  } catch (error) {
    return retryLater(services, kind, due, failureOf(error).message)
  }
  // The provider showed what was adopted, so it has accepted that. Followed and shown no more, it is a review.
  if (id === undefined && !due.adopted) {
    if (provesAbsence(due, services.config.payouts)) return undefined
    return recordUnsent(services, kind, due, 'the provider need not show yet what was lost')
  }
  // Its money is gone already, so no limit holds it back.
  if ((await recordSending(services, { ...kind, holdBack: undefined }, due)) !== undefined)
    await recordAccepted(services, kind, due, id)
  return never
}

async function send<Due extends DueToSend, Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
  { request, learned }: Prepared,
  takenAt: number,
): Promise<number> {
  const startedAt = performance.now()
  const sending = await recordSending(services, kind, due, learned)
  if (sending === undefined) return never
  // Nothing was sent. Whoever has decided about the row since has another request.
  if (performance.now() - startedAt > staleMs)
    return recordUnsent(services, kind, due, 'the worker was paused before it sent', sending)
  const outcome = await request().catch(failureOf)
  if (typeof outcome === 'string') {
    await recordAccepted(services, kind, due, outcome)
    kind.onAccepted(due, (performance.now() - takenAt) / 1000)
  } else if (sending.sends > 1 || outcome.kind === 'ambiguous')
    await recordUnknown(services, kind, due, outcome.message)
  else if (outcome.kind === 'rejected') await recordRefused(services, kind, due, outcome.message, sending)
  else return retryLater(services, kind, due, outcome.message, sending)
  return never
}

/** A failure before the request is never ambiguous, because nothing was sent. */
async function handleUnprepared<Due extends DueToSend, Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
  { kind: fault, message }: ProviderError,
): Promise<number> {
  if (fault !== 'rejected') return retryLater(services, kind, due, message)
  await recordRefused(services, kind, due, message)
  return never
}

/** We are at fault, or the provider is unavailable. The row waits, and an operator is alarmed. */
function retryLater<Due extends DueToSend, Row extends LockedOutgoing>(
  services: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
  error: string,
  sending?: Sending,
): Promise<number> {
  kind.alarm(due, 'held_up', `it cannot be sent now, and is sent again later: ${error}`)
  return recordUnsent(services, kind, due, error, sending)
}

/**
 * Records that a request is about to be sent, before its first byte is. Committed on return. Undefined: this worker may not send
 * it any more, or it waits for a limit or the pause. Both are decided in the transaction that commits `sending`, and nothing else
 * leads to a request, so they hold for whatever is sent.
 */
export async function recordSending<Due extends DueToSend>(
  { db, transact, config, log }: OutgoingServices,
  kind: Pick<SendingKind<Due>, 'table' | 'fieldsOf' | 'mayLeave' | 'learns' | 'holdBack'>,
  due: Due,
  learned: readonly unknown[] = kind.learns.map(() => null),
): Promise<Sending | undefined> {
  const { leaseSeconds } = config.payouts
  const { holdBack } = kind
  if (holdBack === undefined)
    return beginSending({ trx: db, log: log.info.bind(log) }, kind, due, learned, leaseSeconds)
  const begun = await transact(async (uow) => {
    if (!(await lockSwitch(uow.trx, 'payouts'))) return undefined
    return (await holdBack(uow, due, learned)) ?? beginSending(uow, kind, due, learned, leaseSeconds)
  })
  if (typeof begun !== 'function') return begun
  begun()
  return undefined
}

/** The provider accepted it. This counts even if the row has changed meanwhile. */
export async function recordAccepted<Due extends DueToSend, Row extends LockedOutgoing>(
  { transact, config }: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
  providerId: string | undefined,
): Promise<void> {
  const opened = await transact(async (uow) => {
    const accepted = await setAccepted(uow, kind, due, providerId, config.payouts.pollSeconds)
    if (accepted !== undefined) {
      kind.announce(uow, accepted, ['submitted'])
      await kind.closeReviews(uow, accepted, ['unknown'], 'accepted')
      return false
    }
    // A repeated acceptance is no news. One after the money was given back means that it is paid twice.
    const row = await kind.lock(uow, due.id)
    // Every state after a request can become `sent`, so this is no state that an acceptance may find.
    if (row?.status === 'pending') throw new Error(`a payout was accepted in ${row.sendState}`)
    return row?.status === 'failed' && kind.openReview(uow, row, 'paid_after_failed', undefined)
  })
  if (opened)
    kind.alarm(
      due,
      'paid_after_failed',
      `the provider accepted it${providerId === undefined ? '' : ` as ${providerId}`} after its money was given back`,
    )
}

/**
 * The provider refuses the payee. Only this refusal fails a row, and only if no other request was ever sent. `sending`: the
 * refused request. Undefined: the payee was refused before anything was sent.
 */
export async function recordRefused<Due extends DueToSend, Row extends LockedOutgoing>(
  { transact }: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
  reason: string,
  sending?: Sending,
): Promise<void> {
  await transact(async (uow) => {
    const row = await kind.lock(uow, due.id)
    if (row?.status !== 'pending') return
    const stillOurs =
      sending === undefined
        ? row.sendState === 'not_sent' && row.attempts === due.attempts
        : row.sends === 1 && row.sentAt?.getTime() === sending.at.getTime()
    if (!stillOurs) return
    // Before anything is sent or refused, what may be at the provider was looked up there.
    const asked = new Map(due.looksUp ? [[due.id, false]] : [])
    const refused = await failUnpaid(uow, kind, row, { reason, asked, adopt: 'restore-check' })
    await kind.closeReviews(uow, refused, ['unknown'], 'failed')
  })
}

/** Returns the seconds until it is sent again. */
export async function recordUnsent(
  { db, log }: OutgoingServices,
  kind: Pick<OutgoingEnds, 'table' | 'fieldsOf'>,
  due: DueToSend,
  error: string,
  sending?: Sending,
): Promise<number> {
  const pause = Math.min(2 ** Math.min(due.attempts, 6), longestPauseSeconds)
  await setUnsent({ trx: db, log: log.info.bind(log) }, kind, due, error, pause, sending)
  return pause
}

async function recordUnknown<Due extends DueToSend, Row extends LockedOutgoing>(
  { db, config, log }: OutgoingServices,
  kind: SendingKind<Due, Row>,
  due: Due,
  error: string,
): Promise<void> {
  kind.alarm(due, 'unanswered', `it is unknown whether it was executed; the provider is asked: ${error}`)
  await setUnknown({ trx: db, log: log.info.bind(log) }, kind, due, error, config.payouts.pollSeconds)
}

function failureOf(error: unknown): ProviderError {
  return error instanceof ProviderError ? error : new ProviderError('ambiguous', 'unexpected error')
}
