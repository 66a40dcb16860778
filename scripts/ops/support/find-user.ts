import type { Knex } from 'knex'
import { User } from '../../../src/accounts/models.js'
import { emailAddress } from '../../../src/accounts/schemas.js'
import { parseUserId } from '../../../src/kernel/ids.js'
import { RefusedError, UsageError } from './errors.js'

/** Finds the account that an option names. Throws UsageError when the text is no id and no e-mail, RefusedError when no account has it. */
export async function findUser(db: Knex, text: string | undefined, option = '--user'): Promise<User> {
  const id = text === undefined ? undefined : parseUserId(text)
  const email = emailAddress.safeParse(text).data
  if (id === undefined && email === undefined)
    throw new UsageError(`${option} needs a user id or an e-mail address`)
  const user = await User.query(db).findOne(id === undefined ? { email } : { id })
  if (user === undefined) throw new RefusedError(`there is no account ${text}`)
  return user
}
