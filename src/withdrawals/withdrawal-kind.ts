import { recreditableKinds } from '../outgoing/decide.js'
import { type Asked, looksUp, provesAbsence, sinceRestore } from '../outgoing/guards.js'
import type { Outgoing, OutgoingEnds, OutgoingKind } from '../outgoing/kind.js'
import { failUnpaid as failUnpaidRow } from '../outgoing/steps.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { ProviderTransfer } from '../ports/payouts.js'
import type { Services } from '../services.js'
import { recordWithdrawalEvents } from './describe-withdrawals.js'
import { postHold, voidHold } from './ledger-entries.js'
import { type MailSettings, mailCreator, type WithdrawalEvent } from './mails.js'
import { closeReviews, openReview, outdateReviews } from './reviews.js'
import {
  hasReviews,
  type LockedWithdrawal,
  lockWithdrawal,
  payoutChannel,
  type Withdrawal,
  withdrawalColumns,
  withdrawalRow,
} from './withdrawal.js'
import { type DueReconciliation, payoutJob, payoutJobIds, reconcilerQueue } from './work-queue.js'

/** Once the money is given back of what the provider may still pay, it is watched for so long, and looked at once a day at least. */
const watchSeconds = 90 * 86_400
const maxWatchPauseSeconds = 86_400
const maxWatchDoublings = 20
/** The pauses between two questions grow to this many times the first: from 3 s to a minute by default. */
const maxPauseFactor = 20

/** A withdrawal as a statement returns it that has changed it, under its lock: no review is opened meanwhile. */
type ChangedWithdrawal = Withdrawal & Outgoing & Pick<LockedWithdrawal, 'hasReviews'>
const changedColumns = `${withdrawalColumns}, w.attempts, ${hasReviews} as "hasReviews"`

/** What the end of a withdrawal does. `event`: what its creator is told instead, when it was never sent. */
function withdrawalEnds(config: MailSettings, event?: WithdrawalEvent): OutgoingEnds<LockedWithdrawal> {
  return {
    ...withdrawalRow,
    columns: changedColumns,
    async moveMoney({ trx }, withdrawal, end) {
      if (end.status === 'failed') return (await voidHold(trx, withdrawal)).id
      return (await postHold(trx, { ...withdrawal, providerFeeKobo: end.feeKobo })).id
    },
    async afterEnd(uow, withdrawal, end) {
      // Nobody has to decide about the debts of somebody whose withdrawal was never sent.
      if (end.status === 'failed' && !end.wasSent)
        await closeReviews(uow, withdrawal.id, ['debt'], 'it was not sent')
      const failed =
        end.status === 'failed' ? ({ kind: 'withdrawal-failed', reason: end.reason } as const) : undefined
      await mailCreator(uow, config, withdrawal, [event ?? failed ?? { kind: 'withdrawal-paid' }])
    },
    announce(uow, row, statuses) {
      const withdrawal = row as ChangedWithdrawal
      uow.publish(payoutChannel(withdrawal.reference))
      uow.removeJobs('payouts', payoutJobIds(withdrawal))
      recordWithdrawalEvents(uow, withdrawal, statuses)
    },
  }
}

/** Withdrawals as a kind of outgoing money, for whoever follows them or decides about them. */
export function withdrawalKind({
  config,
  payouts,
  metrics,
  log,
}: Pick<Services, 'config' | 'payouts' | 'metrics' | 'log'>): OutgoingKind<LockedWithdrawal> {
  const { pollSeconds, settleSeconds } = config.payouts
  return {
    ...withdrawalEnds(config),
    toFollow: reconcilerQueue(config.payouts),
    rules: { deduplicates: payouts.deduplicates, settleSeconds },
    pauses: { first: pollSeconds, longest: pollSeconds * maxPauseFactor },
    find: (row) => payouts.findTransfer((row as unknown as DueReconciliation).providerReference),
    lock: lockWithdrawal,
    wakeSender: ({ wake }, withdrawal) => wake('payouts', payoutJob(withdrawal)),
    async openReview(uow, withdrawal, kind, found) {
      const details = found === undefined ? {} : detailsOf(found)
      const isNew = await openReview(uow, { withdrawalId: withdrawal.id, kind, details })
      if (isNew && recreditableKinds.includes(kind)) recordWithdrawalEvents(uow, withdrawal, ['returned'])
      return isNew
    },
    noteOf: () => undefined,
    async closeReviews(uow, row, reasons, state) {
      const { id, hasReviews } = row as ChangedWithdrawal
      // What the provider has is not held for debts any more.
      if (hasReviews) await closeReviews(uow, id, [...reasons, 'debt'], `the provider shows it ${state}`)
    },
    outdateReviews: (uow, { id }, reasons, { state }) =>
      outdateReviews(uow, id, reasons, `the provider shows it ${state} again`),
    watchPause({ status, sinceGivenBack, polls }, found) {
      // A failure that the provider shows is its last word.
      const isOver = status === 'failed' && found !== undefined
      if (isOver || sinceGivenBack === null || sinceGivenBack > watchSeconds) return null
      return Math.min(pollSeconds * 2 ** Math.min(polls, maxWatchDoublings), maxWatchPauseSeconds)
    },
    alarm(row, what, text) {
      metrics.alerts.inc({ kind: `payout_${what}` })
      const fields = { ...withdrawalRow.fieldsOf(row), review: what, why: text }
      if (what === 'unanswered' || what === 'held_up')
        log.warn(fields, 'a payout is delayed; nobody has to act yet')
      else log.error(fields, 'a payout needs an operator. Run: npm run ops -- payouts show <reference>')
    },
  }
}

function detailsOf({ reference, amountKobo, currency, state, reason }: ProviderTransfer) {
  return { reference, kobo: String(amountKobo), currency, state, reason }
}

export interface Unpaid {
  readonly reason: string
  /** What the provider says that it has. */
  readonly asked: Asked
  /** What the creator is told. */
  readonly event?: WithdrawalEvent
}

/**
 * Fails a withdrawal and gives all of the money back. The caller has made sure that it was not sent, as far as these rows can know
 * it. Throws `service_unavailable` when they cannot.
 */
export async function failUnpaid(
  uow: UnitOfWork,
  config: MailSettings,
  withdrawal: LockedWithdrawal,
  { reason, asked, event }: Unpaid,
): Promise<void> {
  const adopt = adoptCommand(withdrawal)
  await failUnpaidRow(uow, withdrawalEnds(config, event), withdrawal, { reason, asked, adopt })
}

/** For one that the provider has, and these rows had lost. */
export function adoptCommand({ reference }: Pick<Withdrawal, 'reference'>): string {
  return `payouts adopt ${reference}`
}

/**
 * Asks the provider about those of these withdrawals that it may have although they were never sent from here. Call it before
 * the transaction that may give their money back. What was adopted it has shown already, and may show no more (`adoptedToo`). Throws
 * ProviderError.
 */
export async function askIfOld(
  { db, config, payouts }: Pick<Services, 'db' | 'config' | 'payouts'>,
  ids: readonly string[],
  adoptedToo = false,
): Promise<Asked> {
  const rows = await query<{
    id: string
    providerReference: string
    adopted: boolean
    sinceRestore: number | null
  }>(db, {
    name: 'unsent.old',
    text: /* sql */ `
      select w.id, w.provider_reference as "providerReference", w.adopted_at is not null as adopted,
        ${sinceRestore} as "sinceRestore"
      from withdrawals w where w.id = any($1::uuid[]) and ${looksUp('w')}`,
    values: [ids],
  })
  const asked = new Map<string, boolean>()
  for (const row of rows) {
    const has =
      (row.adopted && !adoptedToo) || (await payouts.findTransfer(row.providerReference)) !== undefined
    if (has || provesAbsence(row, config.payouts)) asked.set(row.id, has)
  }
  return asked
}
