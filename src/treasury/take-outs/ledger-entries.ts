import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import { platformAccount, userAccount } from '../../ledger/accounts.js'
import { postReserved, reserve, voidReserved } from '../../ledger/transfers.js'
import type { TakeOut } from './take-out.js'

// The ledger counts only USDC. What the platform has carries a minus, so an asset leaves an account by an entry above zero.

type Moved = Pick<TakeOut, 'id' | 'userId' | 'mint' | 'amount'>

const key = (id: string): string => `take-out:${id}`
const transit = platformAccount('in_transit', 'USDC')

/** It is signed: the creator cannot withdraw it meanwhile. Throws `insufficient_balance`. */
export async function holdTakeOut(trx: Knex, { id, userId, mint, amount }: Moved): Promise<void> {
  if (mint !== usdc.mint) return
  const entries = [
    { account: userAccount(userId, 'available', 'USDC'), amount: -amount },
    { account: userAccount(userId, 'held', 'USDC'), amount },
    { account: platformAccount('custody_wallets', 'USDC'), amount },
    { account: transit, amount: -amount },
  ]
  await reserve(trx, { key: key(id), ref: key(id), entries })
}

/** It landed: neither the creator's balance nor the custody wallet has it any more. */
export async function postTakeOut(trx: Knex, { id, userId, mint, amount }: Moved): Promise<void> {
  if (mint !== usdc.mint) return
  const entries = [
    { account: userAccount(userId, 'held', 'USDC'), amount: -amount },
    { account: transit, amount },
  ]
  await postReserved(trx, { key: key(id), ref: key(id), entries })
}

/** It failed, or can no longer land. */
export async function returnTakeOut(trx: Knex, { id, mint }: Moved): Promise<void> {
  if (mint === usdc.mint) await voidReserved(trx, key(id))
}
