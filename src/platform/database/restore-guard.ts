import type { Knex } from 'knex'
import { changesOne, query } from './database.js'

/**
 * Whether the rows are where they were (docs/decisions/0072). `copied`: a restored dump, or a copy of the database. `moved`: the
 * server has another timeline, after a point-in-time recovery or as a promoted standby.
 */
type DatabaseState = 'known' | 'copied' | 'moved'

/** As SQL: nothing that moves money begins unless it holds. A scalar subquery: read once for all rows of a statement. */
export const databaseIsKnown = `(select database_state() = 'known')`

/** The same for one look. */
export async function isDatabaseKnown(db: Knex): Promise<boolean> {
  const [row] = await query<{ known: boolean }>(db, {
    name: 'epoch.known',
    text: `select ${databaseIsKnown} as known`,
  })
  return row?.known === true
}

export interface DatabaseEpoch {
  readonly state: DatabaseState
  /** Where the rows are now, and when they were seen last, as text. */
  readonly identity: string
  /** When a clock last saw these rows where they were. Null: never. */
  readonly seenAt: Date | null
  /** When a restore was accepted last. */
  readonly restoredAt: Date | null
}

/**
 * Two standbys of one server can take the same timeline, so the start of the server counts too. With `seen_at`, which somebody's
 * acceptance or declaration changes.
 */
const identityText =
  'row(i.*, extract(epoch from pg_postmaster_start_time()), extract(epoch from database_epoch.seen_at))::text'

export async function readEpoch(db: Knex): Promise<DatabaseEpoch> {
  const [row] = await query<DatabaseEpoch>(db, {
    name: 'epoch.read',
    text: `select database_state() as state, ${identityText} as identity, seen_at as "seenAt", restored_at as "restoredAt"
      from database_epoch, database_identity() i`,
  })
  if (row === undefined) throw new Error('database_epoch has no row')
  return row
}

const hereAndNow = `system_identifier = i.system_identifier, database_oid = i.database_oid, table_oid = i.table_oid,
  timeline = i.timeline, seen_at = clock_timestamp()`

/** The rows are still where they were, or nobody has looked yet. Otherwise it stands still at about the time of the backup. */
export async function markSeen(db: Knex): Promise<void> {
  await query(db, {
    name: 'epoch.seen',
    text: `update database_epoch set ${hereAndNow} from database_identity() i where database_state() = 'known'`,
  })
}

/**
 * What the restore had lost is compared and adopted: from now on the rows are where they are. False, and nothing is written, when these
 * are not the rows that were compared: somebody has accepted or declared them meanwhile, or another server has taken over.
 */
export function acceptDatabase(trx: Knex, { identity }: Pick<DatabaseEpoch, 'identity'>): Promise<boolean> {
  return changesOne(trx, {
    name: 'epoch.accept',
    text: `update database_epoch set ${hereAndNow}, restored_at = clock_timestamp() from database_identity() i
      where ${identityText} = $1 returning 1`,
    values: [identity],
  })
}

/** For a restore that the server does not show: as if the rows were copied. They are as old as `since`. */
export async function declareRestored(trx: Knex, since: Date): Promise<void> {
  await query(trx, {
    name: 'epoch.declare',
    text: `update database_epoch set system_identifier = 0, database_oid = 0, table_oid = 0, timeline = 0, seen_at = $1`,
    values: [since],
  })
}
