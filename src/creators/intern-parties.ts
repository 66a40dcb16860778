import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** Ids of wallets already seen by this process. They never change, so they may be kept; the oldest are forgotten. */
const known = new WeakMap<Knex, Map<string, bigint>>()
const maxKnown = 100_000

/**
 * The party ids of wallets, made where missing. Two autocommit statements, never inside a transaction: inserts in
 * one order and without touching existing rows, then a read. (`on conflict do update` on a unique column takes a
 * lock that the foreign keys of other batches wait for.)
 */
export async function internWallets(
  db: Knex,
  wallets: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const cache = known.get(db) ?? new Map<string, bigint>()
  known.set(db, cache)
  const missing = [...new Set(wallets)].filter((wallet) => !cache.has(wallet)).sort()
  if (missing.length > 0) {
    const found = await readParties(db, missing)
    const unseen = missing.filter((wallet) => !found.has(wallet))
    const made = unseen.length === 0 ? new Map<string, bigint>() : await insertParties(db, unseen)
    for (const [wallet, id] of [...found, ...made]) cache.set(wallet, id)
  }
  const ids = new Map(wallets.map((wallet) => [wallet, cache.get(wallet) as bigint]))
  for (const wallet of cache.keys()) {
    if (cache.size <= maxKnown) break
    cache.delete(wallet)
  }
  return ids
}

async function insertParties(db: Knex, wallets: readonly string[]): Promise<Map<string, bigint>> {
  await query(db, {
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
