import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import { type Account, accountColumns } from '../account.js'

export interface OtpAccount {
  readonly account: Account
  /** Whole seconds until the account's codes are unlocked; 0 when they are not locked. */
  readonly lockedSeconds: number
}

/** Finds the account with this e-mail address (in its stored form), and how long its one-time codes are still locked. */
export async function findOtpAccount(db: Knex, email: string): Promise<OtpAccount | undefined> {
  const [row] = await query<Account & { lockedSeconds: number }>(db, {
    name: 'otp.account',
    text: /* sql */ `
      select ${accountColumns}, greatest(0, coalesce(ceil(extract(epoch from a.locked_until - clock_timestamp())), 0))::int as "lockedSeconds"
        from users u left join wallets w on w.user_id = u.id
             left join code_attempts a on a.user_id = u.id and a.kind = 'sign_in_code'
       where u.email = $1`,
    values: [email],
  })
  if (row === undefined) return undefined
  const { lockedSeconds, ...account } = row
  return { account, lockedSeconds }
}
