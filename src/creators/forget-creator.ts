import type { Knex } from 'knex'
import { ApiKey, DomainChallenge, Site } from './models.js'

/** Deletes a creator's API keys, sites and challenge. */
export async function forgetCreator(trx: Knex.Transaction, userId: string): Promise<void> {
  await ApiKey.query(trx).delete().where({ user_id: userId })
  await Site.query(trx).delete().where({ user_id: userId })
  await DomainChallenge.query(trx).deleteById(userId)
}
