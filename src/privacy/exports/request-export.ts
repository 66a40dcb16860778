import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { query, write } from '../../platform/database/database.js'
import type { Services } from '../../services.js'

/** An account's data is gathered at most once in this time, unless it failed. */
const pauseHours = 24

type ExportStatus = 'preparing' | 'ready' | 'expired' | 'failed'

export interface DataExport {
  readonly status: ExportStatus
  readonly requestedAt: Date
  /** When the mailed link ends. Null: it is not mailed yet. */
  readonly expiresAt: Date | null
}

/**
 * The newest export of an account. Requests one when there is none, when the newest is a day old, and when it failed: the clock
 * makes the file and mails the link. Throws `unauthorized` when the account was closed since the request was let in.
 */
export async function requestExport({ db }: Pick<Services, 'db'>, userId: string): Promise<DataExport> {
  await write(db, {
    name: 'exports.request',
    text: /* sql */ `
      insert into data_exports as e (id) select id from users where id = $1 and closed_at is null for share
      on conflict (id) do update
         set requested_at = clock_timestamp(), due_at = clock_timestamp(), attempts = 0, last_error = null,
             ready_at = null, token_hash = null, sealed_file = null, expires_at = null
       where e.requested_at < clock_timestamp() - $2::int * interval '1 hour'
          or (e.due_at is null and e.ready_at is null)`,
    values: [userId, pauseHours],
  })
  const [found] = await query<DataExport>(db, {
    name: 'exports.read',
    text: /* sql */ `
      select requested_at as "requestedAt", expires_at as "expiresAt",
        case when due_at is not null then 'preparing' when ready_at is null then 'failed'
             when expires_at > clock_timestamp() then 'ready' else 'expired' end as status
      from data_exports where id = $1`,
    values: [userId],
  })
  if (found === undefined) throw new DomainError('unauthorized')
  return found
}

export async function forgetExport(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'exports.forget',
    text: 'delete from data_exports where id = $1',
    values: [userId],
  })
}

/** Deletes the files whose links have expired. The rows stay: they say when the last request was. */
export async function deleteExpiredExports({ db }: Pick<Services, 'db'>): Promise<void> {
  await write(db, {
    name: 'exports.delete-expired',
    text: /* sql */ `
      update data_exports set sealed_file = null
      where id in (
        select id from data_exports where sealed_file is not null and expires_at < now() limit 1000 for update skip locked)`,
  })
}
