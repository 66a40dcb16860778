import type { Knex } from 'knex'
import { type Entry, platformAccount, transferEntries, userAccount } from '../ledger/accounts.js'
import type { Posted } from '../ledger/post-transfer.js'
import { credit, postReserved, reserve, voidReserved } from '../ledger/transfers.js'
import type { Withdrawal } from './withdrawal.js'

/** What of a withdrawal the ledger needs. */
export type Amounts = Pick<
  Withdrawal,
  'reference' | 'userId' | 'debitMicro' | 'grossKobo' | 'feeKobo' | 'netKobo'
>

const keyOf = (reference: string): string => `withdrawal:${reference}`
const available = (userId: string) => userAccount(userId, 'available', 'USDC')
const held = (userId: string) => userAccount(userId, 'held', 'USDC')

/** Sets the money of a withdrawal aside. Throws `insufficient_balance`. */
export function reserveHold(
  trx: Knex,
  { reference, userId, debitMicro }: Pick<Amounts, 'reference' | 'userId' | 'debitMicro'>,
): Promise<Posted> {
  const entries = transferEntries(debitMicro, available(userId), held(userId))
  return reserve(trx, { key: keyOf(reference), ref: reference, entries })
}

/**
 * Books a payout that reached the bank: the held dollars go into the exchange, out of it come the naira that left at the
 * provider and the platform's fee.
 */
export function postHold(trx: Knex, amounts: Amounts): Promise<Posted> {
  const { reference, userId, debitMicro } = amounts
  const entries = [{ account: held(userId), amount: -debitMicro }, ...outside(amounts, 1n)]
  return postReserved(trx, { key: keyOf(reference), ref: reference, entries })
}

/** Gives a creator all of it back: nothing was paid. */
export function voidHold(trx: Knex, { reference }: Pick<Amounts, 'reference'>): Promise<Posted> {
  return voidReserved(trx, keyOf(reference))
}

/** Takes a settled payout back whose money returned, once however often it is asked: the creator gets all of it, the fee too. */
export function recreditPayout(trx: Knex, amounts: Amounts): Promise<Posted> {
  const { reference, userId, debitMicro } = amounts
  const entries = [{ account: available(userId), amount: debitMicro }, ...outside(amounts, -1n)]
  return credit(trx, { key: `${keyOf(reference)}:returned`, ref: reference, entries })
}

function outside({ debitMicro, grossKobo, feeKobo, netKobo }: Amounts, sign: bigint): Entry[] {
  const entries: Entry[] = [
    { account: platformAccount('fx', 'USDC'), amount: sign * debitMicro },
    { account: platformAccount('fx', 'NGN'), amount: -sign * grossKobo },
    { account: platformAccount('provider_clearing', 'NGN'), amount: sign * netKobo },
    { account: platformAccount('platform_fee', 'NGN'), amount: sign * feeKobo },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}
