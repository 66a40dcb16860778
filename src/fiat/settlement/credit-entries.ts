import { type Entry, platformAccount, userAccount } from '../../ledger/accounts.js'
import type { FiatCredit } from '../fees.js'

/** What naira that became somebody's move in dollars: out of the exchange to the creator and the platform. */
export function creditEntries(userId: string, { creditMicro, revenueMicro }: FiatCredit): Entry[] {
  const entries: Entry[] = [
    { account: platformAccount('fx', 'USDC'), amount: -(creditMicro + revenueMicro) },
    { account: userAccount(userId, 'available', 'USDC'), amount: creditMicro },
    { account: platformAccount('platform_fee', 'USDC'), amount: revenueMicro },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}
