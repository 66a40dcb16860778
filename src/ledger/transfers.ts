import type { Knex } from 'knex'
import type { Entry } from './accounts.js'
import { findTransfer, type Posted, postAlone, resolutionKey, type Transfer } from './post-statement.js'
import { coverReceivables } from './receivables/receivables.js'

export type { Posted } from './post-statement.js'

/** A transfer as callers give it. The same key is posted once. `ref`: what it is about; the creator sees it. */
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
 * Sets money aside: from `available` to `held` for a withdrawal, or into `pending` for a tip that is not final yet.
 * `postReserved` or `voidReserved` with the same key resolves it, once.
 */
export function reserve(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: key, kind: 'reserve', ref, entries })
}

/** Moves what was reserved under this key to its destination. The database refuses less than all of it. */
export function postReserved(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: resolutionKey(key), kind: 'post', ref, resolves: key, entries })
}

/** Gives a reserve back, entry by entry; what becomes available covers first what its owner owes. Throws when nothing was reserved under this key, or it was posted. */
export async function voidReserved(db: Knex, key: string, post = postTransfer): Promise<Posted> {
  const reserved = await findTransfer(db, key)
  if (reserved?.kind !== 'reserve') throw new Error(`Nothing was reserved as ${key}`)
  const entries = reserved.entries.map(({ account, amount }) => ({ account, amount: -amount }))
  return post(db, {
    idem: resolutionKey(key),
    kind: 'void',
    ref: reserved.ref,
    resolves: key,
    entries,
  })
}

/** As `voidReserved`, for the caller who sets the money aside again: it covers nothing meanwhile. */
export function voidToReserve(db: Knex, key: string): Promise<Posted> {
  return voidReserved(db, key, postAlone)
}

/**
 * Posts a transfer in one round trip, on a pool or in the caller's transaction. The same idem again changes nothing and
 * returns `repeated`. What it makes available covers first what its owner owes (docs/decisions/0067). Throws DomainError
 * `insufficient_balance` when a user's account would fall below zero, and a plain Error for our own mistakes: other content under
 * a used idem, or no such reserve.
 */
export async function postTransfer(db: Knex, transfer: Transfer): Promise<Posted> {
  const posted = await postAlone(db, transfer)
  if (!posted.repeated) await coverReceivables(db, usersPaid(transfer.entries))
  return posted
}

/** Whose available balance the entries raise. */
function usersPaid(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ account: { userId, kind }, amount }) =>
    userId !== null && kind === 'available' && amount > 0n ? [userId] : [],
  )
}
