import { ProviderError } from '../../kernel/provider-error.js'
import { query } from '../../platform/database/database.js'
import { finishRows, takeDueRows } from '../../platform/database/due-rows.js'
import { readClock } from '../../platform/database/read-clock.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Dispute } from '../../ports/disputes.js'
import type { Services } from '../../services.js'
import { findDispute } from './dispute.js'
import { recordDispute } from './record-dispute.js'
import { recordRefunds, recordReversals } from './record-returns.js'
import { type DueLook, type ReturnNeeds, returnsQueue } from './returns-queue.js'

/** A case is alarmed again when so little of its time is left. */
const reminderHours = 4
/** Of a reversal there is no webhook, and others may be lost. */
const pollMs = 30_000
/** Overlap of two lists of one look: a dispute may be filed and lost between them. */
const overlapMs = 3_600_000

/**
 * Looks at what came back of collected naira: disputes, refunds at the provider's own pages, and reversals. Read, call, transact:
 * each case has its own transaction, so one that fails does not stop the others. A webhook makes it due; without one it is due
 * every `pollMs`. Any number of workers may run it: one at a time looks, and a repetition changes nothing.
 */
export function createReturnsBatch(services: ReturnNeeds): Batch {
  return async () => {
    const { db } = services
    const [look] = await takeDueRows<DueLook>(db, returnsQueue)
    if (look === undefined) return { taken: 0 }
    const error = await lookNow(services, look)
    const listed_at = error === undefined ? look.askedAt : null
    await finishRows(db, returnsQueue, [
      { id: look.id, attempts: look.attempts, dueInMs: pollMs, error, listed_at },
    ])
    return { taken: 1, nextDueMs: pollMs }
  }
}

/** Returns what went wrong, if anything. What cannot be read of one list stops no other, but for the reversals. */
async function lookNow(services: ReturnNeeds, look: DueLook): Promise<string | undefined> {
  const attempt = (step: () => Promise<unknown>) =>
    step().then(
      (problem) => (typeof problem === 'string' ? problem : undefined),
      (error) => problemOf(services, error),
    )
  const inDisputes = await attempt(() => recordDisputes(services, look.disputesFrom))
  const inRefunds = await attempt(() => recordRefunds(services))
  const inReminders = await attempt(() => remind(services))
  // A lost dispute explains why its payment is reversed: without all disputes nothing is taken for a reversal.
  const readDisputes = () => recordDisputes(services, new Date(look.askedAt.getTime() - overlapMs))
  const inReversals = inDisputes ?? (await attempt(() => recordReversals(services, readDisputes)))
  return inReversals ?? inRefunds ?? inReminders
}

function problemOf({ metrics, log }: ReturnNeeds, error: unknown): string {
  if (error instanceof ProviderError) metrics.alerts.inc({ kind: 'fiatpay_away' })
  log.warn({ err: error }, 'what came back of payments could not be read; it is tried again later')
  return error instanceof ProviderError ? error.message : 'unexpected error'
}

/** Records the disputes since a time. Says what could not be recorded, and throws at the end if one could not be read. */
async function recordDisputes(services: ReturnNeeds, from: Date): Promise<string | undefined> {
  let failed = 0
  for await (const page of services.disputes.list(from, await readClock(services.db)))
    for (const shown of page) if (!(await recordOne(services, shown))) failed += 1
  return failed > 0 ? `${failed} disputes could not be recorded` : undefined
}

async function recordOne(services: ReturnNeeds, shown: Dispute): Promise<boolean> {
  const { db, transact, log } = services
  try {
    const known = await findDispute(db, shown.id)
    const isOver = known?.state === 'won' || known?.state === 'lost'
    if (isOver && known.state === shown.state && known.settled && !known.recheck) return true
    const recorded = await transact((uow) => recordDispute(uow, services, shown))
    if (recorded !== undefined && (recorded.isNew || recorded.before !== undefined)) {
      const { transaction: payment, intentId: tip, state } = recorded.dispute
      log.info({ dispute: shown.id, payment, tip, state }, `a dispute is ${state}`)
    }
    if (recorded === undefined)
      log.warn(
        { dispute: shown.id, state: shown.state },
        'the provider shows a state of a dispute that cannot follow',
      )
    else if (recorded.dispute.state === 'open' && (recorded.isNew || recorded.before !== undefined))
      alarm(services, shown.id, 'a payment is disputed')
    // A new dispute in an unknown state needs a person: its time may be running.
    return recorded !== undefined || known !== undefined
  } catch (error) {
    log.error({ err: error, dispute: shown.id }, 'a dispute could not be recorded; it is tried again later')
    return false
  }
}

/** Alarms once more about each case that has little time left and no answer, or one of which the provider still shows nothing. */
async function remind(services: ReturnNeeds): Promise<void> {
  const due = await query<{ id: string }>(services.db, {
    name: 'disputes.remind',
    text: /* sql */ `
      update disputes set reminded_at = clock_timestamp()
      where state = 'open' and reminded_at is null and answer_by < clock_timestamp() + $1::int * interval '1 hour'
        and (answer_sent_at is null or answer_sent_at < clock_timestamp() - $2::float8 * interval '1 second')
      returning id`,
    values: [reminderHours, services.config.payouts.settleSeconds],
  })
  for (const { id } of due) alarm(services, id, 'little time is left to answer a dispute')
}

function alarm({ metrics, log }: Pick<Services, 'metrics' | 'log'>, id: string, what: string): void {
  metrics.alerts.inc({ kind: 'dispute_open' })
  log.error({ dispute: id }, `${what}. Run: npm run ops -- disputes`)
}
