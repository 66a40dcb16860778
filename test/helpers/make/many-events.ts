import type { World } from '../servers/world.js'

/** A log of so many tips that became final, and a ping as the last event. For a creator without events. */
export async function fillEventLog({ db }: Pick<World, 'db'>, userId: string, many: number): Promise<void> {
  await db.raw(
    `insert into events (user_id, sequence, type, subject, data, recorded_at)
     select :userId, n, case when n = :many then 'ping' else 'tip.final' end, 'many', '{}', now() from generate_series(1, :many) n`,
    { userId, many },
  )
  await db.raw(
    'insert into event_counters (user_id, last_sequence, last_at, last_before_month) values (:userId, :many, now(), 0)',
    { userId, many },
  )
}
