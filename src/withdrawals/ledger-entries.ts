import type { Knex } from 'knex'
import { type Entry, platformAccount, transferEntries, userAccount } from '../ledger/accounts.js'
import { credit, type Posted, postReserved, reserve, voidReserved } from '../ledger/transfers.js'

export interface WithdrawalAmounts {
  readonly reference: string
  readonly userId: string
  /** What was reserved. */
  readonly heldMicro: bigint
  /** What the payout costs the creator. Less than was reserved when less was paid. */
  readonly debitMicro: bigint
  readonly grossKobo: bigint
  readonly feeKobo: bigint
  readonly netKobo: bigint
  /** What the provider takes for it besides, at our expense. */
  readonly providerFeeKobo: bigint
}

const keyOf = (reference: string): string => `withdrawal:${reference}`
const available = (userId: string) => userAccount(userId, 'available', 'USDC')
const held = (userId: string) => userAccount(userId, 'held', 'USDC')

/** Moves the money of a withdrawal from `available` to `held`. Throws `insufficient_balance`. */
export function reserveHold(
  trx: Knex,
  { reference, userId, debitMicro }: Pick<WithdrawalAmounts, 'reference' | 'userId' | 'debitMicro'>,
): Promise<Posted> {
  const entries = transferEntries(debitMicro, available(userId), held(userId))
  return reserve(trx, { key: keyOf(reference), ref: reference, entries })
}

/**
 * Posts a payout that reached the bank. The held dollars go into the exchange account `fx`; the naira that the provider paid
 * and the platform's fee come out of it. The float also pays the provider's fee. What the payout did not cost is available again.
 */
export function postHold(trx: Knex, amounts: WithdrawalAmounts): Promise<Posted> {
  const { reference, userId, heldMicro, debitMicro } = amounts
  const entries = [
    { account: held(userId), amount: -heldMicro },
    ...(heldMicro > debitMicro ? [{ account: available(userId), amount: heldMicro - debitMicro }] : []),
    ...exchangeEntries(amounts, 1n),
  ]
  return postReserved(trx, { key: keyOf(reference), ref: reference, entries })
}

/** Gives the creator all of the money back. Nothing was paid. */
export function voidHold(trx: Knex, { reference }: Pick<WithdrawalAmounts, 'reference'>): Promise<Posted> {
  return voidReserved(trx, keyOf(reference))
}

/**
 * Credits the creator again after a completed payout came back: all of it, our fee included. The provider gives its own fee back
 * too. A repetition changes nothing.
 */
export function recreditPayout(trx: Knex, amounts: WithdrawalAmounts): Promise<Posted> {
  const { reference, userId, debitMicro } = amounts
  const entries = [{ account: available(userId), amount: debitMicro }, ...exchangeEntries(amounts, -1n)]
  return credit(trx, { key: `${keyOf(reference)}:returned`, ref: reference, entries })
}

/** The platform's side of a payout. `sign` -1n reverses it. */
function exchangeEntries(
  { debitMicro, grossKobo, feeKobo, netKobo, providerFeeKobo }: WithdrawalAmounts,
  sign: bigint,
): Entry[] {
  const entries: Entry[] = [
    { account: platformAccount('fx', 'USDC'), amount: sign * debitMicro },
    { account: platformAccount('fx', 'NGN'), amount: -sign * grossKobo },
    { account: platformAccount('float_ngn', 'NGN'), amount: sign * (netKobo + providerFeeKobo) },
    { account: platformAccount('provider_fees', 'NGN'), amount: -sign * providerFeeKobo },
    { account: platformAccount('platform_fee', 'NGN'), amount: sign * feeKobo },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}
