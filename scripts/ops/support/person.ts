import type { Knex } from 'knex'
import { emailAddress } from '../../../src/accounts/schemas.js'
import { userIdFrom } from '../../../src/kernel/ids.js'
import { CannotDo, UsageError } from './command.js'

/** Somebody with an account, as far as operators decide about them. */
export interface Person {
  readonly id: string
  readonly email: string
  /** The linked handles. */
  readonly twitter: string | null
  readonly discord: string | null
  readonly verifiedAt: Date | null
}

/** Whom `--user` means: a user id or an e-mail address. Throws UsageError for neither, CannotDo when nobody has it. */
export async function findPerson(db: Knex, text: string | undefined): Promise<Person> {
  const id = text === undefined ? undefined : userIdFrom(text)
  const email = emailAddress.safeParse(text).data
  if (id === undefined && email === undefined) throw new UsageError('--user: a user id or an e-mail address')
  const person = await db('users')
    .where(id === undefined ? { email } : { id })
    .first('id', 'email', {
      twitter: 'twitter_handle',
      discord: 'discord_handle',
      verifiedAt: 'identity_verified_at',
    })
  if (person === undefined) throw new CannotDo(`nobody has the account ${text}`)
  return person
}
