import type { Knex } from 'knex'
import { type Entry, transferEntries, userAccount } from './accounts.js'
import { findReserved, findTransfer } from './find-transfer.js'
import { type Posted, postTransfer } from './post-transfer.js'
import { postTransfers } from './post-transfers.js'

/** What a caller says of a movement of money: a key that makes it happen once, what it is about, and its entries. */
export interface NewTransfer {
  readonly key: string
  readonly ref: string
  readonly entries: readonly Entry[]
}

/** Moves money for good. */
export function credit(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: key, kind: 'credit', ref, entries })
}

/**
 * Moves money to where it waits: what is available to `held` for a withdrawal, what arrived and may still vanish to
 * `pending`. Resolved once, by `postReserved` or `voidReserved` with the same key.
 */
export function reserve(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: key, kind: 'reserve', ref, entries })
}

/** Moves what was reserved under this key on to where it belongs: all of it, or the database refuses. */
export function postReserved(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: resolutionOf(key), kind: 'post', ref, resolves: key, entries })
}

/** Takes a reserve back, entry by entry. Throws when nothing was reserved under this key, or it was posted. */
export async function voidReserved(db: Knex, key: string): Promise<Posted> {
  const reserved = await findTransfer(db, key)
  if (reserved?.kind !== 'reserve') throw new Error(`Nothing was reserved as ${key}`)
  const entries = reserved.entries.map(({ account, amount }) => ({ account, amount: -amount }))
  return postTransfer(db, {
    idem: resolutionOf(key),
    kind: 'void',
    ref: reserved.ref,
    resolves: key,
    entries,
  })
}

/** `reserve` for many movements that take from nobody's account; one statement for hundreds of them. */
export async function reserveMany(trx: Knex, movements: readonly NewTransfer[]): Promise<void> {
  const transfers = movements.map(({ key, ref, entries }) => ({
    idem: key,
    kind: 'reserve' as const,
    ref,
    entries,
  }))
  await postTransfers(trx, transfers)
}

/**
 * What waits as pending under these keys becomes available to its owners. A key under which nothing was reserved is
 * passed over.
 */
export async function releasePending(trx: Knex, keys: readonly string[]): Promise<void> {
  const reserved = await findReserved(trx, keys)
  const transfers = reserved.map(({ idem, ref, userId, currency, amount }) => ({
    idem: resolutionOf(idem),
    kind: 'post' as const,
    ref,
    resolves: idem,
    entries: transferEntries(
      amount,
      userAccount(userId, 'pending', currency),
      userAccount(userId, 'available', currency),
    ),
  }))
  await postTransfers(trx, transfers)
}

/** Post and void share one idem: whichever comes second is another content under a used idem. */
function resolutionOf(key: string): string {
  return `${key}:resolve`
}
