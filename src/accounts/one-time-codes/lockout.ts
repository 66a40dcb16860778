import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'

/** The contract's lockout: five failed attempts within 15 minutes, then locked for 15 minutes. */
const mostFailures = 5
const windowMinutes = 15
const lockMinutes = 15

/** What there is to compare an attempt with. */
export interface Attempt {
  /** Of the account's newest code. */
  readonly codeHmac: Buffer | null
  readonly expired: boolean
}

/**
 * Counts an attempt as failed before anybody looks whether it is. Undefined when the account is locked: then nothing
 * is counted, and nothing may be compared. The row is held until the transaction ends, so that the attempts on one
 * account come one after another, however many arrive at once.
 */
export async function countAttempt(trx: Knex.Transaction, userId: string): Promise<Attempt | undefined> {
  // Kept are the newest failures; when the one that makes five of them is recent, so are all.
  const [attempt] = await query<Attempt>(trx, {
    name: 'otp.count',
    text: /* sql */ `
      insert into otp_codes as o (user_id, failed_at) values ($1, array[clock_timestamp()])
      on conflict (user_id) do update
         set failed_at = o.failed_at[cardinality(o.failed_at) - $2::int + 2:] || clock_timestamp(),
             locked_until = case
               when o.failed_at[cardinality(o.failed_at) - $2::int + 2]
                    > clock_timestamp() - $3::int * interval '1 minute'
               then clock_timestamp() + $4::int * interval '1 minute' end,
             changed_at = clock_timestamp()
       where o.locked_until is null or o.locked_until <= clock_timestamp()
      returning code_hmac as "codeHmac", coalesce(expires_at <= clock_timestamp(), true) as expired`,
    values: [userId, mostFailures, windowMinutes, lockMinutes],
  })
  return attempt
}

/** Takes the attempt just counted back, in the same transaction. */
export async function uncountAttempt(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'otp.uncount',
    text: 'update otp_codes set failed_at = trim_array(failed_at, 1), locked_until = null where user_id = $1',
    values: [userId],
  })
}
