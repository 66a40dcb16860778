import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { platformAccount, transferEntries, userAccount } from '../../src/ledger/accounts.js'
import { credit } from '../../src/ledger/transfers.js'
import { type Customer, register } from './client.js'

/** Opens an account of a creator who has so much, as if it had come from the chain. */
export async function fundedCustomer(db: Knex, url: string, micro: bigint): Promise<Customer> {
  const customer = await register(url, `${randomBytes(8).toString('hex')}@example.com`)
  const available = userAccount(customer.userId, 'available', 'USDC')
  const entries = transferEntries(micro, platformAccount('chain_clearing', 'USDC'), available)
  await credit(db, { key: `faults:${customer.userId}`, ref: 'faults', entries })
  return customer
}
