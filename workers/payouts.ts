import { composePayoutSender } from '../src/compose.js'
import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { payoutJobFailure } from '../src/withdrawals/send/job-failure.js'
import { createPayoutBatch } from '../src/withdrawals/send/send-payouts.js'

/** Sends withdrawals. The only worker that can. */
export function payouts(services: Services): Batch {
  return createPayoutBatch({ ...services, sender: composePayoutSender(services.config) })
}

/** Lets the job of a withdrawal fail whose sending has not come to a verdict, so that operators see it. */
export function payoutFailure({ db }: Services): (reference: string) => Promise<string | undefined> {
  return (reference) => payoutJobFailure(db, reference)
}
