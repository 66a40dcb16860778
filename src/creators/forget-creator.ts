import type { Knex } from 'knex'
import { ApiKey, Site } from './models.js'

/** Deletes a creator's API keys and sites. */
export async function forgetCreator(trx: Knex.Transaction, userId: string): Promise<void> {
  await ApiKey.query(trx).delete().where({ user_id: userId })
  await Site.query(trx).delete().where({ user_id: userId })
}
