import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { changesOne, query, write } from './database.js'

/** One request with an idempotency key (docs/decisions/0030). Hashes are SHA-256. */
export interface KeyedRequest {
  /** Of scope and key. */
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  /** UUID of this attempt. An attempt that lost the key can neither store an answer nor release the key. */
  readonly holder: string
}

/** The state of a key that another request has taken. */
export interface TakenKey {
  readonly holder: string
  readonly sameRequest: boolean
  /** Null while that request runs. */
  readonly response: unknown
}

/** How long a key belongs to one request. */
export const keyHours = 24
/** A crashed request frees its key after this time. A running one renews the lease. */
const leaseSeconds = 10
/** Two renewals may fail or be late before the lease ends. */
export const renewEveryMs = 3000
/** Longer than any request takes. One that hangs frees its key after this time and a lease. */
const longestSeconds = 120
/** Rows deleted by one statement, which takes about ten milliseconds. */
const deletedRows = 5000

/** Takes a key that is free, expired or left by a crashed request. False when another request has it. */
export function takeKey(db: Knex, { keyHash, requestHash, holder }: KeyedRequest): Promise<boolean> {
  return changesOne(db, {
    name: 'idempotency.take',
    text: /* sql */ `
      insert into idempotency_keys as taken (key_hash, request_hash, holder, lease_until)
      values ($1, $2, $3, clock_timestamp() + $4 * interval '1 second')
      on conflict (key_hash) do update
        set request_hash = excluded.request_hash, holder = excluded.holder, lease_until = excluded.lease_until,
            response = null, created_at = excluded.created_at
        where taken.created_at < clock_timestamp() - $5 * interval '1 hour'
           or taken.response is null and taken.lease_until < clock_timestamp()
      returning holder`,
    values: [keyHash, requestHash, holder, leaseSeconds, keyHours],
  })
}

/** The state of the key; undefined when it was released meanwhile. */
export async function findKey(
  db: Knex,
  { keyHash, requestHash }: KeyedRequest,
): Promise<TakenKey | undefined> {
  const rows = await query<TakenKey>(db, {
    name: 'idempotency.find',
    text: /* sql */ `
      select holder, request_hash = $2 as "sameRequest", response from idempotency_keys where key_hash = $1`,
    values: [keyHash, requestHash],
  })
  return rows[0]
}

/** Takes a key over whose stored answer is no longer usable. False when another request has taken it over. */
export function takeOver(db: Knex, { keyHash, holder }: KeyedRequest, from: TakenKey): Promise<boolean> {
  return changesOne(db, {
    name: 'idempotency.take-over',
    text: /* sql */ `
      update idempotency_keys
         set holder = $2, lease_until = clock_timestamp() + $4 * interval '1 second', response = null,
             created_at = clock_timestamp()
       where key_hash = $1 and holder = $3 and response is not null
      returning holder`,
    values: [keyHash, holder, from.holder, leaseSeconds],
  })
}

/** Extends the lease of a request that still runs. False when it has lost the key or has taken too long. */
export function renewLease(db: Knex, { keyHash, holder }: KeyedRequest): Promise<boolean> {
  return changesOne(db, {
    name: 'idempotency.renew',
    text: /* sql */ `
      update idempotency_keys set lease_until = clock_timestamp() + $3 * interval '1 second'
       where key_hash = $1 and holder = $2 and response is null
         and created_at > clock_timestamp() - $4 * interval '1 second'
      returning holder`,
    values: [keyHash, holder, leaseSeconds, longestSeconds],
  })
}

/** Stores the answer for repetitions of the request. False when another request has taken the key, or it is stored already. */
export function storeAnswer(db: Knex, { keyHash, holder }: KeyedRequest, answer: unknown): Promise<boolean> {
  return changesOne(db, {
    name: 'idempotency.store',
    text: /* sql */ `
      update idempotency_keys set response = $3 where key_hash = $1 and holder = $2 and response is null
      returning holder`,
    values: [keyHash, holder, JSON.stringify(answer)],
  })
}

/**
 * Stores the answer in the transaction that creates what it names, so that a request that was paused for longer than its
 * lease cannot create it a second time. Throws `request_in_progress` when another request has taken the key. Does nothing
 * without a key.
 */
export async function storeWithCreation(
  trx: Knex.Transaction,
  request: KeyedRequest | undefined,
  answer: unknown,
): Promise<void> {
  if (request !== undefined && !(await storeAnswer(trx, request, answer)))
    throw new DomainError('request_in_progress')
}

/** Releases a key whose request failed, so that the caller may try again. Failures are not stored. */
export async function releaseKey(db: Knex, { keyHash, holder }: KeyedRequest): Promise<void> {
  await write(db, {
    name: 'idempotency.release',
    text: 'delete from idempotency_keys where key_hash = $1 and holder = $2 and response is null',
    values: [keyHash, holder],
  })
}

/** Deletes expired keys, the oldest first, at most 5,000. Returns how many. */
export async function deleteExpiredKeys(db: Knex): Promise<number> {
  const rows = await query(db, {
    name: 'idempotency.delete-expired',
    text: /* sql */ `
      delete from idempotency_keys where key_hash in (
        select key_hash from idempotency_keys where created_at < clock_timestamp() - $1 * interval '1 hour'
        order by created_at limit $2 for update skip locked)
      returning 1`,
    values: [keyHours, deletedRows],
  })
  return rows.length
}
