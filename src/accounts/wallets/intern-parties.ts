import type { Knex } from 'knex'
import { LRUCache } from 'lru-cache'
import { query, write } from '../../platform/database/database.js'

/** Party ids of wallets, per process. Ids never change, so the cache needs no expiry. */
const caches = new WeakMap<Knex, LRUCache<string, bigint>>()
const cacheSize = 100_000

/**
 * Finds the party ids of wallets and creates the missing parties. Do not call it inside a transaction: it runs as
 * autocommit statements, an insert in one order that leaves existing rows unlocked, then a read. (`on conflict do
 * update` would lock rows that the foreign keys of other batches wait for.) See docs/decisions/0024.
 */
export async function internWallets(
  db: Knex,
  wallets: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const cache = caches.get(db) ?? new LRUCache<string, bigint>({ max: cacheSize })
  caches.set(db, cache)
  const unique = [...new Set(wallets)]
  const ids = new Map<string, bigint>()
  for (const wallet of unique) {
    const id = cache.get(wallet)
    if (id !== undefined) ids.set(wallet, id)
  }
  const missing = unique.filter((wallet) => !ids.has(wallet)).sort()
  if (missing.length === 0) return ids
  const found = await readParties(db, missing)
  const unknown = missing.filter((wallet) => !found.has(wallet))
  const created = unknown.length === 0 ? new Map<string, bigint>() : await insertParties(db, unknown)
  for (const [wallet, id] of [...found, ...created]) {
    cache.set(wallet, id)
    ids.set(wallet, id)
  }
  return ids
}

async function insertParties(db: Knex, wallets: readonly string[]): Promise<Map<string, bigint>> {
  await write(db, {
    name: 'parties.insert',
    text: 'insert into parties (wallet) select unnest($1::text[]) on conflict do nothing',
    values: [wallets],
  })
  return readParties(db, wallets)
}

async function readParties(db: Knex, wallets: readonly string[]): Promise<Map<string, bigint>> {
  const rows = await query<{ wallet: string; id: bigint }>(db, {
    name: 'parties.read',
    text: 'select wallet, id from parties where wallet = any($1::text[])',
    values: [wallets],
  })
  return new Map(rows.map(({ wallet, id }) => [wallet, id]))
}
