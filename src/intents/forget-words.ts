import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** Deletes the message and the name that intents of a creator brought. */
export async function forgetIntentWords(
  trx: Knex.Transaction,
  userId: string,
  ids: readonly string[],
): Promise<void> {
  await query(trx, {
    name: 'intents.forget-words',
    text: /* sql */ `
      update payment_intents set message = null, sender_name = null
      where id = any($1::text[]) and recipient_party = (select id from parties where user_id = $2)`,
    values: [ids, userId],
  })
}
