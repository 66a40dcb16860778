import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** The data of an event of a tip as e without the tip's words, as SQL. The fields keep their order. */
export const wordless = (name: string): string => /* sql */ `(
  select json_object_agg(key,
    case when key = 'message' then 'null' when key = 'sender' and e.data ->> 'tokenSymbol' = 'FIAT' then to_json(${name})
      else value end order by place)
  from json_each(e.data) with ordinality as f (key, value, place) where key <> 'senderName')`

/**
 * Takes the words of these tips out of a creator's log. `name` replaces that of a naira tip; the sender of a crypto tip is a wallet. Reads
 * the creator's whole log, so it is for what happens rarely.
 */
export async function forgetWords(
  trx: Knex.Transaction,
  {
    userId,
    subjects,
    name,
  }: { readonly userId: string; readonly subjects: readonly string[]; readonly name: string },
): Promise<void> {
  await query(trx, {
    name: 'events.forget-words',
    text: /* sql */ `
      update events e set data = ${wordless('$3::text')}
      where user_id = $1 and subject = any($2::text[]) and type ~ '^(tip|naira)[.]'`,
    values: [userId, subjects, name],
  })
}
