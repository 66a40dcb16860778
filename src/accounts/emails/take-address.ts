import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { databaseTime } from '../../platform/database/base-model.js'
import { User } from '../models.js'
import { voidCodes } from '../one-time-codes/one-time-code.js'
import { assertNotReserved } from './address-in-use.js'

const uniqueViolation = '23505'

/**
 * Gives a locked account an address whose mail the caller has just read. Codes and sign-in links mailed to the address before
 * are void. Throws `email_in_use`.
 */
export async function takeAddress(trx: Knex.Transaction, userId: string, email: string): Promise<void> {
  try {
    await User.query(trx).findById(userId).patch({ email, emailVerifiedAt: databaseTime })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === uniqueViolation)
      throw new DomainError('email_in_use')
    throw error
  }
  await assertNotReserved(trx, email, userId)
  await voidCodes(trx, userId)
}
