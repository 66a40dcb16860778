import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { displayText } from '../../kernel/money.js'
import { emailLayout } from '../../mail/layout.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { exceedsShared, type SharedPayee } from './shared-payee.js'

const koboPerNaira = 100n

/** Whether a creator's identity is verified (docs/decisions/0057), and how old the account is. */
export interface CreatorIdentity {
  readonly email: string
  readonly verified: boolean
  readonly ageDays: number
}

/**
 * Locks the user's row in share mode, so that a verification, a freezing or a change of the e-mail in progress ends first.
 * Otherwise a withdrawal could be held just after the verification released the others. Throws `account_frozen`.
 */
export async function readIdentity(trx: Knex, userId: string): Promise<CreatorIdentity> {
  const [row] = await query<CreatorIdentity & { frozen: boolean }>(trx, {
    name: 'identity.read',
    text: /* sql */ `
      select email, identity_verified_at is not null as verified, frozen_at is not null as frozen,
        extract(epoch from clock_timestamp() - created_at)::float8 / 86400 as "ageDays"
      from users where id = $1 for share`,
    values: [userId],
  })
  if (row === undefined) throw new Error(`There is no user ${userId}`)
  const { frozen, ...identity } = row
  if (frozen) throw new DomainError('account_frozen')
  return identity
}

type Limits = Pick<
  Config['withdrawals'],
  'identitySingleNgn' | 'identityDailyNgn' | 'youngNgn' | 'perAccount' | 'perName'
>

/** A withdrawal that is about to be stored, for the limits of its creator and of where it goes. */
export interface LimitedWithdrawal extends SharedPayee {
  readonly userId: string
  readonly grossKobo: bigint
}

/**
 * Whether a withdrawal needs a verified identity: its own amount is above the limit, or its sum with the creator's
 * withdrawals of the last 24 hours that have not failed, or with all of them while the account is young, or with what all
 * creators withdraw to one account or name. Call it under the lock of the creator's ledger account and the locks of
 * `lockSharedPayee`, so that concurrent withdrawals are added up.
 */
export async function exceedsLimits(
  trx: Knex.Transaction,
  { ageDays }: Pick<CreatorIdentity, 'ageDays'>,
  withdrawal: LimitedWithdrawal,
  limits: Limits,
): Promise<boolean> {
  const { userId, grossKobo } = withdrawal
  if (grossKobo > BigInt(limits.identitySingleNgn) * koboPerNaira) return true
  if (await exceedsDaily(trx, userId, grossKobo, limits)) return true
  if (await exceedsYoung(trx, ageDays, withdrawal, limits)) return true
  return exceedsShared(trx, withdrawal, grossKobo, limits)
}

async function exceedsDaily(
  trx: Knex,
  userId: string,
  grossKobo: bigint,
  limits: Pick<Limits, 'identityDailyNgn'>,
): Promise<boolean> {
  const [row] = await query<{ kobo: string }>(trx, {
    name: 'identity.day',
    text: /* sql */ `
      select coalesce(sum(gross_kobo), 0)::text as kobo from withdrawals
      where user_id = $1 and status <> 'failed' and created_at > clock_timestamp() - interval '24 hours'`,
    values: [userId],
  })
  return BigInt(row?.kobo ?? 0) + grossKobo > BigInt(limits.identityDailyNgn) * koboPerNaira
}

const youngDays = 30

/** A young account has one limit for all its withdrawals, so that waiting a day does not help. */
async function exceedsYoung(
  trx: Knex,
  ageDays: number,
  { userId, grossKobo }: Pick<LimitedWithdrawal, 'userId' | 'grossKobo'>,
  { youngNgn }: Pick<Limits, 'youngNgn'>,
): Promise<boolean> {
  if (youngNgn === undefined || ageDays >= youngDays) return false
  const [row] = await query<{ kobo: bigint }>(trx, {
    name: 'identity.young',
    text: /* sql */ `
      select coalesce(sum(gross_kobo), 0)::bigint as kobo from withdrawals where user_id = $1 and status <> 'failed'`,
    values: [userId],
  })
  return (row?.kobo ?? 0n) + grossKobo > BigInt(youngNgn) * koboPerNaira
}

/** Asks the creator by e-mail to prove the identity. In the transaction that holds the withdrawal. */
export async function requestIdentity(
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
      'The money is set aside and nobody else can have it. It is sent at the exchange rate of that day, and never more than this. Reply to this e-mail, and we tell you what we need to see.',
      'If you did not ask for this withdrawal, change your password and tell us at once.',
    ],
  })
  await queueEmail(uow, { kind: 'identity-verification', to, ...content })
}
