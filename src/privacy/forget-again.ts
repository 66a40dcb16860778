import type { Knex } from 'knex'
import { wordless } from '../events/forget-words.js'
import type { Partition } from '../platform/database/partitions.js'
import { withheldName } from '../tips/read/present.js'

/**
 * Erases from a month of events what was erased while it was apart: the log of accounts that were closed, and the words of tips that
 * were deleted. Returns how many events it has deleted or changed.
 */
export async function forgetAgain(db: Knex, { name }: Pick<Partition, 'name'>): Promise<number> {
  const closed = await db.raw<{ rowCount: number }>(
    'delete from partitions.?? e using users u where u.id = e.user_id and u.closed_at is not null',
    [name],
  )
  const wordy = await db.raw<{ rowCount: number }>(
    /* sql */ `
      update partitions.?? e set data = ${wordless('?::text')} from tips t
      where t.id = e.subject and e.type ~ '^(tip|naira)[.]' and t.message_by_intent and t.message is null and t.sender_name is null
        and (e.data ->> 'message' is not null or e.data ->> 'senderName' is not null
          or t.kind = 'fiat' and t.sender = ?::text and e.data ->> 'sender' <> t.sender)`,
    [name, withheldName, withheldName],
  )
  return closed.rowCount + wordy.rowCount
}
