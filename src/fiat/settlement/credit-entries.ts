import { type Leg, platformAccount, userAccount } from '../../ledger/accounts.js'
import type { FiatCredit } from '../fees.js'

/** What naira that became somebody's move in dollars: out of the exchange to the creator and the platform. */
export function creditLegs(userId: string, { creditMicro, revenueMicro }: FiatCredit): Leg[] {
  const legs: Leg[] = [
    { account: platformAccount('fx', 'USDC'), amount: -(creditMicro + revenueMicro) },
    { account: userAccount(userId, 'available', 'USDC'), amount: creditMicro },
    { account: platformAccount('platform_fee', 'USDC'), amount: revenueMicro },
  ]
  return legs.filter(({ amount }) => amount !== 0n)
}
