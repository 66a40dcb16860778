import { eventChannel } from '../events/event.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'

/**
 * A new stamp of a creator's stream, given like those of confirmations (docs/decisions/0025): later than every stamp a reader may have
 * seen, and no tip is confirmed with an earlier one until the transaction ends. The readers are notified after it.
 */
export async function takeStamp(
  { trx, publish }: Pick<UnitOfWork, 'trx' | 'publish'>,
  userId: string,
): Promise<Date> {
  const [cursor] = await query<{ at: Date }>(trx, {
    name: 'tips.take-stamp',
    text: /* sql */ `
      insert into creator_cursors as c (party_id, last_at)
      select id, date_trunc('milliseconds', clock_timestamp()) from parties where user_id = $1
      on conflict (party_id) do update
        set last_at = greatest(date_trunc('milliseconds', clock_timestamp()), c.last_at + interval '1 ms')
      returning last_at as at`,
    values: [userId],
  })
  if (cursor === undefined) throw new Error(`user ${userId} has no party`)
  publish(eventChannel(userId))
  return cursor.at
}
