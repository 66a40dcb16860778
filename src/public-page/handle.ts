import type { Knex } from 'knex'
import { inputError } from '../kernel/errors.js'
import { changesOne, query, write } from '../platform/database/database.js'
import { parsePageHandle, skeletonOf, whyReserved } from './handle-rules.js'

/** A handle that was given up leads to its creator this long, and nobody else gets it. */
const keptDays = 90
/** Handles given up that one creator keeps from others. */
const mostKept = 3

/** Whose page this is. */
export interface PageOwner {
  readonly userId: string
  readonly name: string
  /** The handle now, which is another than the one asked for where that was given up. */
  readonly handle: string
}

/**
 * Finds the creator of a handle, also by one given up in the last 90 days. Undefined for a handle of nobody, and for accounts
 * that are closed or frozen: one query answers them all, so they take the same time.
 */
export async function findByPageHandle(db: Knex, handle: string): Promise<PageOwner | undefined> {
  const parsed = parsePageHandle(handle)
  if (parsed === undefined) return undefined
  const [owner] = await query<PageOwner>(db, {
    name: 'page_handles.find',
    text: /* sql */ `
      select u.id as "userId", u.name, c.handle
      from page_handles h join users u on u.id = h.user_id join page_handles c on c.user_id = u.id and c.until is null
      where h.handle = $1 and (h.until is null or h.until > now()) and u.closed_at is null and u.frozen_at is null`,
    values: [parsed],
  })
  return owner
}

/** The creator's handles: the one now has no `until`. */
export function listPageHandles(
  db: Knex,
  userId: string,
): Promise<{ readonly handle: string; readonly until: Date | null }[]> {
  return query(db, {
    name: 'page_handles.list',
    text: /* sql */ `
      select handle, until from page_handles where user_id = $1 and (until is null or until > now())
      order by until desc nulls first`,
    values: [userId],
  })
}

const refuse = (problem: string) => inputError('invalid_handle', 'handle', problem)

/**
 * Gives a creator this handle, or none, in a transaction that has locked the creator. The one before is kept for 90 days. Throws
 * `invalid_handle` with the reason.
 */
export async function changePageHandle(
  trx: Knex.Transaction,
  userId: string,
  handle: string | null,
): Promise<void> {
  const own = await listPageHandles(trx, userId)
  const current = own.find(({ until }) => until === null)
  if (current?.handle === handle || (current === undefined && handle === null)) return
  if (handle !== null) await assertFree(trx, userId, handle)
  const kept = own.filter((one) => one.until !== null && one.handle !== handle)
  if (current !== undefined && kept.length >= mostKept)
    throw refuse(
      `was changed ${mostKept} times in the last ${keptDays} days; go back to an earlier one, or wait`,
    )
  await write(trx, {
    name: 'page_handles.give-up',
    text: /* sql */ `
      update page_handles set until = now() + interval '${keptDays} days' where user_id = $1 and until is null`,
    values: [userId],
  })
  if (handle === null) return
  const taken = await changesOne(trx, {
    name: 'page_handles.take',
    text: /* sql */ `
      insert into page_handles as h (handle, skeleton, user_id) values ($1, $2, $3)
      on conflict (handle) do update set user_id = excluded.user_id, until = null
        where h.user_id = excluded.user_id or h.until <= now()
      returning 1`,
    values: [handle, skeletonOf(handle), userId],
  })
  if (!taken) throw refuse('is taken')
}

/** Two who ask at the same time for handles that look alike wait for one another; so does an operator who links the Twitter handle. */
async function assertFree(trx: Knex.Transaction, userId: string, handle: string): Promise<void> {
  const why = whyReserved(handle)
  if (why !== undefined) throw refuse(why)
  const skeleton = skeletonOf(handle)
  await query(trx, {
    name: 'page_handles.lock',
    text: `select pg_advisory_xact_lock(hashtext('page:' || $1)), pg_advisory_xact_lock(hashtext('twitter:' || $2))`,
    values: [skeleton, handle],
  })
  const [found] = await query<{ taken: boolean; alike: boolean; twitter: boolean }>(trx, {
    name: 'page_handles.free',
    text: /* sql */ `
      with others as (
        select handle from page_handles
        where skeleton = $1 and user_id is distinct from $3 and (until is null or until > now()))
      select exists (select from others where handle = $2) as taken, exists (select from others) as alike,
        exists (select from users where lower(twitter_handle) = $2 and id <> $3) as twitter`,
    values: [skeleton, handle, userId],
  })
  if (found?.taken === true) throw refuse('is taken')
  if (found?.alike === true) throw refuse('looks like the handle of another creator')
  if (found?.twitter === true) throw refuse('is the Twitter handle of another creator, for whom it is kept')
}

/** Nobody gets the handles of a closed account for 90 days: they would get the tips of its links. */
export async function forgetPageHandles(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'page_handles.forget',
    text: /* sql */ `
      update page_handles set user_id = null, until = coalesce(until, now() + interval '${keptDays} days') where user_id = $1`,
    values: [userId],
  })
}

/** Deletes handles whose time is over. Returns the number of handles. */
export async function deleteOldPageHandles(db: Knex): Promise<number> {
  const deleted = await query(db, {
    name: 'page_handles.delete-old',
    text: 'delete from page_handles where until <= now() returning 1',
  })
  return deleted.length
}
