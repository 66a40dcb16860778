import { composePayoutSender, composeRefunds } from '../src/compose.js'
import { createRefundBatch } from '../src/fiat/refunds/send-refunds.js'
import { inTurn } from '../src/platform/worker/batch-loop.js'
import { createPayoutBatch } from '../src/withdrawals/send/send-payouts.js'
import { makePayoutDue, payoutJobFailure } from '../src/withdrawals/work-queue.js'
import type { WorkerDefinition } from './worker-definition.js'

/**
 * Sends withdrawals, and the refunds that creators ask for, which it also follows. The only worker that can send money. Woken
 * by each of them; a withdrawal's job has its reference, so that operators see it among the failed ones.
 */
export const payouts: WorkerDefinition = {
  createBatch: (services) =>
    inTurn([
      createPayoutBatch({ ...services, sender: composePayoutSender(services.config) }),
      createRefundBatch({ ...services, refunds: composeRefunds(services.config) }),
    ]),
  concurrency: 4,
  jobFailure: ({ db }, reference) => payoutJobFailure(db, reference),
  makeRowDue: makePayoutDue,
}
