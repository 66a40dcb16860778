import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import { type Account, accountColumns } from '../account.js'

/** An account as the one-time code sees it. */
export interface OtpAccount {
  readonly account: Account
  /** Too many failed attempts, less than 15 minutes ago. */
  readonly locked: boolean
}

/** The account with this e-mail address (in its stored form) and whether its one-time codes are locked. */
export async function findOtpAccount(db: Knex, email: string): Promise<OtpAccount | undefined> {
  const [row] = await query<Account & { locked: boolean }>(db, {
    name: 'otp.account',
    text: /* sql */ `
      select ${accountColumns}, coalesce(o.locked_until > clock_timestamp(), false) as locked
        from users u left join wallets w on w.user_id = u.id left join otp_codes o on o.user_id = u.id
       where u.email = $1`,
    values: [email],
  })
  if (row === undefined) return undefined
  const { locked, ...account } = row
  return { account, locked }
}
