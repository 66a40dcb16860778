import type { Knex } from 'knex'
import { platformAccount, transferEntries } from '../../ledger/accounts.js'
import { type Posted, postReserved, reserve, voidReserved } from '../../ledger/transfers.js'

const key = (sweepId: string): string => `sweep:${sweepId}`
const transit = platformAccount('in_transit', 'USDC')

// What the platform has carries a minus, so an asset leaves an account by an entry above zero.

/** A sweep is signed: its USDC may leave custody. No balance of a creator changes. */
export function moveToTransit(trx: Knex, sweepId: string, micro: bigint): Promise<Posted> {
  const entries = transferEntries(micro, transit, platformAccount('custody_wallets', 'USDC'))
  return reserve(trx, { key: key(sweepId), ref: key(sweepId), entries })
}

/** It landed. */
export function moveToTreasury(trx: Knex, sweepId: string, micro: bigint): Promise<Posted> {
  const entries = transferEntries(micro, platformAccount('treasury', 'USDC'), transit)
  return postReserved(trx, { key: key(sweepId), ref: key(sweepId), entries })
}

/** It failed, or can no longer land. */
export function returnToCustody(trx: Knex, sweepId: string): Promise<Posted> {
  return voidReserved(trx, key(sweepId))
}
