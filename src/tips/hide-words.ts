import type { Knex } from 'knex'
import { forgetWords } from '../events/forget-words.js'
import { forgetIntentWords } from '../intents/forget-words.js'
import { query } from '../platform/database/database.js'
import { withheldName } from './read/present.js'

/**
 * Deletes the words of a creator's tips for good: the message, the name of a crypto supporter, and what the payer of naira typed as a
 * name, and their copies in intents and claims. No later claim brings a message. The log of events forgets them too; webhooks that were
 * sent cannot be taken back.
 */
export async function hideWords(
  trx: Knex.Transaction,
  userId: string,
  ids: readonly string[],
): Promise<void> {
  const intents = await query<{ id: string }>(trx, {
    name: 'tips.hide-words',
    text: /* sql */ `
      with hidden as (
        update tips set message = null, message_by_intent = true, sender_name = null,
          sender = case kind when 'fiat' then $2 else sender end
        where id = any($1::text[])
        returning coalesce(main_id, id) as signature, coalesce(intent_id, underpaid_intent_id) as intent_id
      ), claims as (
        update tip_claims set message = null where tip_id in (select signature from hidden)
      )
      select intent_id as id from hidden where intent_id is not null`,
    values: [ids, withheldName],
  })
  await forgetIntentWords(
    trx,
    userId,
    intents.map(({ id }) => id),
  )
  await forgetWords(trx, { userId, subjects: ids, name: withheldName })
}
