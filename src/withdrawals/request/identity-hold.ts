import type { Knex } from 'knex'
import { displayText } from '../../kernel/money.js'
import { emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'

const koboPerNaira = 100n

/** Who withdraws, as far as identity goes. */
export interface Holder {
  readonly email: string
  readonly verified: boolean
}

/** Reads it so that a verification under way is waited for: else a withdrawal could be held just after everything was released. */
export async function readHolder(trx: Knex, userId: string): Promise<Holder> {
  const [holder] = await query<Holder>(trx, {
    name: 'identity.holder',
    text: /* sql */ `
      select email, identity_verified_at is not null as verified from users where id = $1 for share`,
    values: [userId],
  })
  if (holder === undefined) throw new Error(`There is no user ${userId}`)
  return holder
}

/**
 * Whether a withdrawal is above what goes out unverified: by itself, or with the others of the last 24 hours that have not
 * failed. To be asked under the lock of the creator's ledger account, so that two at once do not each look small.
 */
export async function exceedsLimits(
  trx: Knex,
  userId: string,
  grossKobo: bigint,
  limits: Pick<Config['withdrawals'], 'identitySingleNgn' | 'identityDailyNgn'>,
): Promise<boolean> {
  if (grossKobo > BigInt(limits.identitySingleNgn) * koboPerNaira) return true
  const [row] = await query<{ kobo: string }>(trx, {
    name: 'identity.day',
    text: /* sql */ `
      select coalesce(sum(gross_kobo), 0)::text as kobo from withdrawals
      where user_id = $1 and status <> 'failed' and created_at > clock_timestamp() - interval '24 hours'`,
    values: [userId],
  })
  return BigInt(row?.kobo ?? 0) + grossKobo > BigInt(limits.identityDailyNgn) * koboPerNaira
}

/** Asks the creator to prove who they are, in the transaction that holds the withdrawal. */
export async function askForIdentity(
  uow: UnitOfWork,
  to: string,
  {
    reference,
    netKobo,
    site,
  }: { readonly reference: string; readonly netKobo: bigint; readonly site: string },
): Promise<void> {
  const content = emailLayout({
    subject: `Please verify your identity for your withdrawal from ${site}`,
    blocks: [
      `Your withdrawal of NGN ${displayText(netKobo, 2)} from ${site} waits until we have verified who you are:`,
      { standout: reference },
      'The money is set aside and nobody else can have it. Reply to this e-mail, and we tell you what we need to see.',
      'If you did not ask for this withdrawal, change your password and tell us at once.',
    ],
  })
  await queueEmail(uow, { kind: 'identity-verification', to, ...content })
}
