import type { Knex } from 'knex'
import { platformAccount, transferEntries, userAccount } from '../../src/ledger/accounts.js'
import { type BooksReport, checkBooks } from '../../src/ledger/invariants.js'
import { credit } from '../../src/ledger/transfers.js'
import { freshEmail } from '../helpers/make/creators.js'

export const clearing = platformAccount('custody_wallets', 'USDC')
export const provider = platformAccount('treasury', 'USDC')
export const fees = platformAccount('platform_fee', 'USDC')
export const available = (userId: string) => userAccount(userId, 'available', 'USDC')
export const pending = (userId: string) => userAccount(userId, 'pending', 'USDC')
export const held = (userId: string) => userAccount(userId, 'held', 'USDC')

let serial = 0

/** A key that no transfer has. */
export function newKey(): string {
  serial += 1
  return `test:${serial}`
}

/** Creates a user with so many micro-USDC available. Inserts the row directly, because hashing a password takes long. */
export async function createUserWith(db: Knex, units: bigint): Promise<string> {
  const [user] = await db('users')
    .insert({ email: freshEmail(), name: 'Ada Lovelace', password_hash: 'none' })
    .returning<{ id: string }[]>('id')
  if (user === undefined) throw new Error('The user was not written')
  if (units > 0n)
    await credit(db, {
      key: newKey(),
      ref: 'tip:test',
      entries: transferEntries(units, clearing, available(user.id)),
    })
  return user.id
}

/** The names of the violated invariants. */
export function brokenInvariants({ invariants }: BooksReport): string[] {
  return invariants.filter(({ violations }) => violations > 0n).map(({ name }) => name)
}

export async function listBrokenInvariants(db: Knex): Promise<string[]> {
  return brokenInvariants(await checkBooks(db))
}
