import { composePayoutSender } from '../src/compose.js'
import type { Drain } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { payoutTrouble } from '../src/withdrawals/send/job-failure.js'
import { createPayoutDrain } from '../src/withdrawals/send/send-payouts.js'

/** Sends withdrawals. The only worker that can. */
export function payouts(services: Services): Drain {
  return createPayoutDrain({ ...services, sender: composePayoutSender(services.config) })
}

/** Lets the job of a withdrawal fail whose sending has not come to a verdict, so that operators see it. */
export function payoutFailure({ db }: Services): (reference: string) => Promise<string | undefined> {
  return (reference) => payoutTrouble(db, reference)
}
