import { composePayoutSender, composeRefunds } from '../src/compose.js'
import { sendingRefundKind } from '../src/fiat/refunds/refund-kind.js'
import { createFollowBatch } from '../src/outgoing/follow.js'
import { createSendBatch } from '../src/outgoing/send.js'
import { inTurn } from '../src/platform/worker/batch-loop.js'
import { payoutKind } from '../src/withdrawals/send/payout-kind.js'
import { makePayoutDue, payoutJobFailure } from '../src/withdrawals/work-queue.js'
import type { WorkerDefinition } from './worker-definition.js'

/**
 * Sends withdrawals, and the refunds that creators ask for, which it also follows. The only worker that can send money. Woken
 * by each of them; a withdrawal's job has its reference, so that operators see it among the failed ones.
 */
export const payouts: WorkerDefinition = {
  createBatch: (services) => {
    const refunds = sendingRefundKind(services, composeRefunds(services.config))
    return inTurn([
      createSendBatch(services, payoutKind({ ...services, sender: composePayoutSender(services.config) })),
      createSendBatch(services, refunds),
      createFollowBatch(services, refunds),
    ])
  },
  concurrency: 4,
  jobFailure: ({ db }, reference) => payoutJobFailure(db, reference),
  makeRowDue: makePayoutDue,
}
