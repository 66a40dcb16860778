import type { Knex } from 'knex'
import { query } from './database.js'

/** One request under a key. Hashes are SHA-256. */
export interface KeyedRequest {
  /** Of scope and key. */
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  /** UUID of this very attempt: whoever lost the key can neither answer nor release it. */
  readonly holder: string
}

/** What stands under a key that somebody else has. */
export interface TakenKey {
  readonly holder: string
  readonly sameRequest: boolean
  /** Null while that request runs. */
  readonly response: unknown
}

/** How long an answer is kept. */
const keptHours = 24
/** Longer than any request may take, so that only a crashed one loses its key. */
const leaseSeconds = 60
/** Rows of one sweep: a statement of some ten milliseconds. */
const sweepRows = 5000

/** Takes a key that is free, outlived or left by a crashed request. False: somebody has it. */
export async function takeKey(db: Knex, { keyHash, requestHash, holder }: KeyedRequest): Promise<boolean> {
  const rows = await query(db, {
    name: 'idempotency.claim',
    text: /* sql */ `
      insert into idempotency_keys as held (key_hash, request_hash, holder, lease_until)
      values ($1, $2, $3, clock_timestamp() + $4 * interval '1 second')
      on conflict (key_hash) do update
        set request_hash = excluded.request_hash, holder = excluded.holder, lease_until = excluded.lease_until,
            response = null, created_at = excluded.created_at
        where held.created_at < clock_timestamp() - $5 * interval '1 hour'
           or held.response is null and held.lease_until < clock_timestamp()
      returning holder`,
    values: [keyHash, requestHash, holder, leaseSeconds, keptHours],
  })
  return rows.length > 0
}

/** Who has the key; undefined when it was released meanwhile. */
export async function findKey(
  db: Knex,
  { keyHash, requestHash }: KeyedRequest,
): Promise<TakenKey | undefined> {
  const rows = await query<TakenKey>(db, {
    name: 'idempotency.held',
    text: /* sql */ `
      select holder, request_hash = $2 as "sameRequest", response from idempotency_keys where key_hash = $1`,
    values: [keyHash, requestHash],
  })
  return rows[0]
}

/** Takes a key over from an answer that no longer serves. False: somebody else has done so. */
export async function takeOver(
  db: Knex,
  { keyHash, holder }: KeyedRequest,
  from: TakenKey,
): Promise<boolean> {
  const rows = await query(db, {
    name: 'idempotency.take-over',
    text: /* sql */ `
      update idempotency_keys
         set holder = $2, lease_until = clock_timestamp() + $4 * interval '1 second', response = null,
             created_at = clock_timestamp()
       where key_hash = $1 and holder = $3 and response is not null
      returning holder`,
    values: [keyHash, holder, from.holder, leaseSeconds],
  })
  return rows.length > 0
}

/** Stores the answer, to be given to every repetition of the request. In the operation's own transaction, if need be. */
export async function storeAnswer(
  db: Knex,
  { keyHash, holder }: KeyedRequest,
  answer: unknown,
): Promise<void> {
  await query(db, {
    name: 'idempotency.store',
    text: 'update idempotency_keys set response = $3 where key_hash = $1 and holder = $2',
    values: [keyHash, holder, JSON.stringify(answer)],
  })
}

/** Frees a key whose request failed: failures are not kept, the caller may try again. */
export async function releaseKey(db: Knex, { keyHash, holder }: KeyedRequest): Promise<void> {
  await query(db, {
    name: 'idempotency.release',
    text: 'delete from idempotency_keys where key_hash = $1 and holder = $2 and response is null',
    values: [keyHash, holder],
  })
}

/** Forgets outlived keys, the oldest first, at most 5,000 at a time. Returns how many. */
export async function deleteExpiredKeys(db: Knex): Promise<number> {
  const rows = await query(db, {
    name: 'idempotency.sweep',
    text: /* sql */ `
      delete from idempotency_keys where key_hash in (
        select key_hash from idempotency_keys where created_at < clock_timestamp() - $1 * interval '1 hour'
        order by created_at limit $2 for update skip locked)
      returning 1`,
    values: [keptHours, sweepRows],
  })
  return rows.length
}
