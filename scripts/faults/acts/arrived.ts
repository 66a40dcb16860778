import type { Fiatpay } from '../../sandbox/fiatpay/fiatpay.js'
import type { Charge } from '../../sandbox/fiatpay/records.js'
import { refundStatus } from '../../sandbox/fiatpay/wire.js'

/** What really happened outside the service, by the chain and the provider, and by what operators did with their own hands. */
export interface Truth {
  /** Micro-USDC by creator that each signature brought into their custody wallet. */
  readonly landed: Map<string, ReadonlyMap<string, bigint>>
  /** Kobo that operators returned in another way, by the provider's id of the payment. */
  readonly returned: Map<string, number>
  /** Every rate that the feed has shown, in naira per dollar. */
  readonly rates: Set<number>
}

export function emptyTruth(nairaPerDollar: number): Truth {
  return { landed: new Map(), returned: new Map(), rates: new Set([nairaPerDollar]) }
}

/** The kobo of a charge that arrived and did not go back. */
export function keptKobo({ refunds }: Fiatpay, { returned }: Truth, charge: Charge | undefined): number {
  if (charge === undefined) return 0
  const back = refunds.listByReference(charge.reference).filter((one) => refundStatus(one) !== 'failed')
  return charge.payments.reduce((sum, { id, amountKobo }) => {
    const refunded = back
      .filter(({ transaction }) => transaction === id)
      .reduce((total, refund) => total + refund.amountKobo, 0)
    return sum + amountKobo - Math.max(refunded, returned.get(String(id)) ?? 0)
  }, 0)
}
