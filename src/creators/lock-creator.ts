import type { Knex } from 'knex'

/**
 * Puts what is done to one creator in order: whoever holds this lock counts and writes alone. Held to the end of
 * the transaction. It does not hold up rows that merely refer to the user.
 */
export async function lockCreator(trx: Knex.Transaction, userId: string): Promise<void> {
  await trx.raw('select 1 from users where id = ? for no key update', [userId])
}
