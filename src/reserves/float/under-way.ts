import type { Knex } from 'knex'
import { sumRefundsUnderWay } from '../../fiat/suspense/suspense.js'
import { sumOpenPayouts } from '../../withdrawals/sums.js'

/** More than the provider takes for any transfer: NGN 100. What it took is known when the transfer has ended. */
const mostPayoutFeeKobo = 10_000n

/**
 * At most so much has the provider taken that is not booked yet: payouts with their fees, and refunds. Whatever else leaves the
 * float later than the provider takes it belongs here.
 */
export async function sumUnderWay(db: Knex): Promise<bigint> {
  const { underWay, underWayCount } = await sumOpenPayouts(db)
  return underWay + underWayCount * mostPayoutFeeKobo + (await sumRefundsUnderWay(db))
}
