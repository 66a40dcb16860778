import type { Knex } from 'knex'
import { emailAddress } from '../../../src/accounts/schemas.js'
import { parseUserId } from '../../../src/kernel/ids.js'
import { RefusedError, UsageError } from './command.js'

/** The columns of an account that operators' commands use. */
export interface User {
  readonly id: string
  readonly email: string
  readonly twitter: string | null
  readonly discord: string | null
  /** When the identity was verified; null: it was not. */
  readonly verifiedAt: Date | null
}

/** Finds the account of `--user`. Throws UsageError when the text is no id and no e-mail, RefusedError when no account has it. */
export async function findUser(db: Knex, text: string | undefined): Promise<User> {
  const id = text === undefined ? undefined : parseUserId(text)
  const email = emailAddress.safeParse(text).data
  if (id === undefined && email === undefined)
    throw new UsageError('--user needs a user id or an e-mail address')
  const user = await db('users')
    .where(id === undefined ? { email } : { id })
    .first('id', 'email', {
      twitter: 'twitter_handle',
      discord: 'discord_handle',
      verifiedAt: 'identity_verified_at',
    })
  if (user === undefined) throw new RefusedError(`there is no account ${text}`)
  return user
}
