import type { OutgoingKind, SendingKind } from '../../outgoing/kind.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderTransfer, TransferState } from '../../ports/payouts.js'
import type { ProviderRefund, RefundState, Refunds } from '../../ports/refunds.js'
import type { Services } from '../../services.js'
import { recordTipEvents } from '../../tips/describe-tips.js'
import { showRefunded } from '../../tips/fiat-tip.js'
import { holdDisputed } from '../disputes/record-dispute.js'
import { goneCents } from '../gone-payments.js'
import { refundTable } from '../lifecycle.js'
import { listRefundsOf, type RefundReader } from '../provider-refunds.js'
import { lockIntent } from '../settlement/lock-intent.js'
import { endSuspenseRefund } from '../suspense/suspense.js'
import { mailPayer, mailRefund } from './mails.js'
import {
  attentionText,
  lockRefund,
  mayLeave,
  postRefund,
  type Refund,
  refundsToFollow,
  refundsToSend,
  reviewTexts,
  type TipRefund,
  voidRefund,
} from './refund.js'

type Needs = Pick<Services, 'config' | 'metrics' | 'log'>

/** Some refunds take days. Their webhook usually comes first. */
const longestPauseSeconds = 3600
/** The creator reads it. */
export const notReturned = 'The money could not be returned to the payer'

/** Refunds as a kind of outgoing money, for whoever follows them or decides about them. */
export function refundKind({ config, metrics, log }: Needs, refunds: RefundReader): OutgoingKind<Refund> {
  const { pollSeconds, settleSeconds } = config.payouts
  const alarm: OutgoingKind<Refund>['alarm'] = (row, what, text) => {
    const { id, intentId, source } = row as Refund
    if (source === 'suspense') metrics.alerts.inc({ kind: 'fiat_suspense' })
    else metrics.alerts.inc({ kind: 'tip_refund' })
    const fields = { refund: id, tip: intentId, what, reason: text }
    if (what === 'unanswered')
      log.warn(fields, 'nobody knows whether a refund was taken; the provider is asked')
    else log.error(fields, 'a refund waits for an operator. Run: npm run ops -- refunds')
  }
  return {
    table: refundTable,
    columns: 'w.id',
    toFollow: refundsToFollow(config.payouts),
    rules: { deduplicates: false, settleSeconds },
    pauses: { first: pollSeconds, longest: longestPauseSeconds },
    fieldsOf(row) {
      const { id, intentId } = row as Refund
      return { refund: id, tip: intentId }
    },
    async find(row) {
      const refund = row as Refund
      return recordOf(refund, await listRefundsOf(refunds, refund), settleSeconds)
    },
    lock: ({ trx }, id) => lockRefund(trx, id),
    async moveMoney(uow, refund, end) {
      const { trx } = uow
      // The lock of its tip comes before those of the ledger.
      await lockIntent(trx, refund.intentId)
      if (!isOfTip(refund))
        return endSuspenseRefund(uow, refund, end.status === 'failed' ? end.reason : undefined)
      return (await (end.status === 'failed' ? voidRefund : postRefund)(trx, refund)).id
    },
    async afterEnd(uow, refund, end) {
      // What waits in suspense again waits for an operator.
      if (!isOfTip(refund)) {
        if (end.status === 'failed' && end.wasSent) alarm(refund, 'held_up', end.reason)
      } else if (end.status === 'completed') {
        await mailRefund(uow, config, [refund], 'paid')
        await mailPayer(uow, config, await lockIntent(uow.trx, refund.intentId), refund)
        recordTipEvents(uow, 'tip.refunded', [{ id: refund.intentId }])
      } else {
        await showBack(uow, refund)
        await mailRefund(uow, config, [{ ...refund, failureReason: end.reason }], 'failed')
      }
    },
    announce: () => undefined,
    wakeSender: ({ wake }) => wake('payouts'),
    openReview: async (_, { lastError }, reason) => lastError !== reviewTexts[reason],
    noteOf: (reason) => reviewTexts[reason],
    closeReviews: async () => undefined,
    outdateReviews: async () => undefined,
    watchPause: () => null,
    alarm,
  }
}

/** Refunds for the process that sends them. */
export function sendingRefundKind(services: Needs, refunds: Refunds): SendingKind<Refund, Refund> {
  return {
    ...refundKind(services, refunds),
    toSend: refundsToSend(services.config.payouts),
    mayLeave,
    learns: [],
    prepare: async ({ id, transaction, kobo }) => ({
      request: async () => (await refunds.request({ transaction, kobo, note: id })).id,
      learned: [],
    }),
    holdBack: undefined,
    onAccepted: () => undefined,
  }
}

const stateOf: Readonly<Record<RefundState, TransferState>> = {
  started: 'started',
  attention: 'accepted',
  paid: 'paid',
  failed: 'failed',
}

/**
 * What the provider's list shows of a refund: those that carry our reference as their note, or have the id that we know. Undefined:
 * none; or the first of two requests failed, and the second need not be shown yet. Two that did not fail are a mismatch. Pure.
 */
function recordOf(
  refund: Pick<Refund, 'id' | 'source' | 'providerId' | 'sends' | 'sinceSent' | 'looksUp' | 'kobo'>,
  shown: readonly ProviderRefund[],
  settleSeconds: number,
): ProviderTransfer | undefined {
  const ours = oursOf(refund, shown)
  const live = ours.filter(({ state }) => state !== 'failed')
  const [found] = live.length > 0 ? live : ours
  if (found === undefined) return undefined
  const mayShowAnother = (refund.sends > 1 || refund.looksUp) && (refund.sinceSent ?? 0) < settleSeconds
  if (found.state === 'failed' && mayShowAnother) return undefined
  return {
    id: found.id,
    reference: live.length > 1 ? live.map(({ id }) => id).join(' ') : refund.id,
    // What failed has paid nothing, whatever its amount.
    amountKobo: live.length === 0 ? refund.kobo : found.kobo,
    feeKobo: 0n,
    currency: 'NGN',
    state: stateOf[found.state],
    reason: refund.source === 'tip' ? notReturned : 'the refund failed at the provider',
    ...(found.state === 'attention' && { attention: attentionText }),
  }
}

/** The provider's refunds that carry our reference as their note, or have the id that we know. */
export function oursOf(
  refund: Pick<Refund, 'id' | 'providerId'>,
  shown: readonly ProviderRefund[],
): ProviderRefund[] {
  return shown.filter(({ id, note }) => note === refund.id || id === refund.providerId)
}

function isOfTip(refund: Refund): refund is TipRefund {
  return refund.source === 'tip'
}

/** Nothing of it went back, so the tip shows more again, and disputes of its payment hold what it held. */
async function showBack({ trx }: UnitOfWork, { intentId, transaction }: TipRefund): Promise<void> {
  await holdDisputed(trx, transaction)
  await showRefunded(trx, intentId, await goneCents(trx, intentId))
}
