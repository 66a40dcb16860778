import type { Knex } from 'knex'
import { sumDisputesUnderWay } from '../../fiat/disputes/dispute.js'
import { sumRefundsUnderWay } from '../../fiat/refunds/refund.js'
import { sumOpenPayouts } from '../../withdrawals/sums.js'

/** More than the provider takes for any transfer: NGN 100. What it took is known when the transfer has ended. */
const mostPayoutFeeKobo = 10_000n

/**
 * At most so much has the provider taken that is not booked yet: payouts with their fees, refunds and disputes. Whatever else leaves the
 * float later than the provider takes it belongs here.
 */
export async function sumUnderWay(db: Knex): Promise<bigint> {
  const { underWay, underWayCount } = await sumOpenPayouts(db)
  let sum = underWay + underWayCount * mostPayoutFeeKobo
  // One after the other: a transaction has one connection.
  for (const read of [sumRefundsUnderWay, sumDisputesUnderWay]) sum += await read(db)
  return sum
}
