import { randomBytes } from 'node:crypto'
import type { TestFn } from 'ava'
import type { Knex } from 'knex'
import { patient } from '../../scripts/kit/patient-pool.js'
import { platformAccount, transferEntries, userAccount } from '../../src/ledger/accounts.js'
import { type BooksReport, checkBooks } from '../../src/ledger/invariants.js'
import { credit } from '../../src/ledger/transfers.js'
import { createDb } from '../../src/platform/database/database.js'
import { createTransact, type Transact } from '../../src/platform/database/transact.js'
import { createDatabase, type TestDatabase } from '../helpers/servers/database.js'
import { assertNothingOpen } from '../helpers/servers/leaks.js'

export const clearing = platformAccount('custody_wallets', 'USDC')
export const provider = platformAccount('treasury', 'USDC')
export const fees = platformAccount('platform_fee', 'USDC')
export const available = (userId: string) => userAccount(userId, 'available', 'USDC')
export const pending = (userId: string) => userAccount(userId, 'pending', 'USDC')
export const held = (userId: string) => userAccount(userId, 'held', 'USDC')

interface Ledger {
  readonly url: string
  /** As the owner of the tables. */
  readonly db: Knex
  readonly transact: Transact
}

/** A pool of its own. Nobody hears the wake-ups of its transactions. */
export function connectLedger(url: string, connections = 10): Ledger {
  const db = patient(createDb(url, connections), 60_000)
  const ignore = (): void => undefined
  return {
    url,
    db,
    transact: createTransact(db, { wake: ignore, removeJobs: ignore, publish: ignore, log: ignore }),
  }
}

/** A database for one test file, for tests that need no service: a world loads twenty times as many modules. */
export function useLedger(test: TestFn): () => Ledger {
  let database: TestDatabase | undefined
  let opened: Ledger | undefined
  test.before('the database opens', async () => {
    database = await createDatabase()
    opened = connectLedger(database.url)
  })
  test.after.always('the database closes and nothing is left open', async () => {
    await opened?.db.destroy()
    if (database !== undefined) await assertNothingOpen(database)
  })
  return () => {
    if (opened === undefined) throw new Error('The database is open inside tests only')
    return opened
  }
}

let serial = 0

/** A key that no transfer has. */
export function newKey(): string {
  serial += 1
  return `test:${serial}`
}

/** Creates a user with so many micro-USDC available. Inserts the row directly, because hashing a password takes long. */
export async function createUserWith(db: Knex, units: bigint): Promise<string> {
  const [user] = await db('users')
    .insert({
      email: `${randomBytes(8).toString('hex')}@example.com`,
      name: 'Ada Lovelace',
      password_hash: 'none',
    })
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
function brokenInvariants({ invariants }: BooksReport): string[] {
  return invariants.filter(({ violations }) => violations > 0n).map(({ name }) => name)
}

export async function listBrokenInvariants(db: Knex): Promise<string[]> {
  return brokenInvariants(await checkBooks(db))
}
