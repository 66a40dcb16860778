import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { displayText } from '../../kernel/money.js'
import { keyedHash } from '../../kernel/personal-data.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { queueEmail } from '../../mail/queue-email.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { within } from '../../platform/within.js'
import type { Services } from '../../services.js'
import type { BankAccount } from '../bank-account.js'
import { monthDays } from '../confirmation/payees.js'
import { bankAnswerMs } from './banks.js'

/**
 * Limits of what all creators together withdraw to one bank account, and to accounts whose holders have one name
 * (docs/decisions/0057). One person behind many creators is seen by where the money goes.
 */
type Limits = Pick<
  Config['withdrawals'],
  'identitySingleNgn' | 'identityDailyNgn' | 'youngNgn' | 'perAccount' | 'perName'
>
type Sums = Limits['perAccount']

/** The account and the name of a withdrawal, as keyed hashes. Name null: not compared. */
export interface SharedPayee {
  readonly accountHash: Buffer
  readonly nameHash: Buffer | null
}

/** Equal for names that differ in case, blanks, punctuation, accents or the order of their words. */
export function normaliseName(name: string): string {
  return (
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
    .sort()
    .join(' ')
}

export function nameHash({ dataKeys }: Pick<Config, 'dataKeys'>, name: string): Buffer {
  return keyedHash(dataKeys, 'holder-name/1', normaliseName(name))
}

function isLimited(limits: Sums): boolean {
  return Object.values(limits).some((ngn) => ngn !== undefined)
}

/**
 * The name of an account's holder at the bank, when names are limited. The bank is asked outside of any transaction. While it
 * does not answer, the name that the creator gave counts: the provider compares the two when it pays, and the worker replaces the
 * hash when it learns the name.
 */
export async function resolveHolder(
  { payouts, config, log }: Pick<Services, 'payouts' | 'config' | 'log'>,
  account: BankAccount,
): Promise<{ readonly nameHash: Buffer | null; readonly resolvedName: string | null }> {
  if (!isLimited(config.withdrawals.perName)) return { nameHash: null, resolvedName: null }
  try {
    const resolvedName = await within(bankAnswerMs, payouts.resolveAccountName(account))
    if (resolvedName !== undefined) return { nameHash: nameHash(config, resolvedName), resolvedName }
    log.warn('the name of a bank account is not known in time; the given name counts for its limits')
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    log.warn({ err: error }, 'the name of a bank account is not known; the given name counts for its limits')
  }
  return { nameHash: nameHash(config, account.accountName), resolvedName: null }
}

/** Where a withdrawal goes, its account and its name, each with its limits. Only those that have limits. */
function sharedWith({ accountHash, nameHash }: SharedPayee, { perAccount, perName }: Limits) {
  const both = [
    { column: 'account_hash', value: accountHash, sums: perAccount },
    { column: 'name_hash', value: nameHash, sums: perName },
  ] as const
  return both.flatMap(({ value, ...rest }) =>
    value === null || !isLimited(rest.sums) ? [] : [{ value, ...rest }],
  )
}

/**
 * Lets withdrawals to one account or one name follow each other until their transactions end, so that two creators at once do not
 * both stay below a limit. Before the lock of the ledger account, in one order: who waits here holds no money, and who has these
 * locks waits for its own ledger account only, which nobody keeps who waits here.
 */
export async function lockSharedPayee(
  trx: Knex.Transaction,
  payee: SharedPayee,
  limits: Limits,
): Promise<void> {
  const keys = sharedWith(payee, limits).map(({ value }) => value.readBigInt64BE())
  if (keys.length === 0) return
  await query(trx, {
    name: 'identity.lock-payee',
    text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
    values: [keys.toSorted((a, b) => (a < b ? -1 : 1))],
  })
}

/** Whether a withdrawal, with those before it that have the same value in this column, is above a limit. */
async function exceedsSums(
  trx: Knex.Transaction,
  grossKobo: bigint,
  column: 'account_hash' | 'name_hash',
  value: Buffer,
  { dailyNgn, monthlyNgn, totalNgn }: Sums,
): Promise<boolean> {
  const [row] = await query<{ day: bigint; month: bigint; total: bigint }>(trx, {
    name: `identity.${column}`,
    text: /* sql */ `
      select coalesce(sum(gross_kobo) filter (where created_at > clock_timestamp() - interval '24 hours'), 0)::bigint as day,
        coalesce(sum(gross_kobo) filter (where created_at > clock_timestamp() - interval '30 days'), 0)::bigint as month,
        coalesce(sum(gross_kobo), 0)::bigint as total
      from withdrawals where ${column} = $1 and status <> 'failed'
        and ($2::boolean or created_at > clock_timestamp() - interval '30 days')`,
    values: [value, totalNgn !== undefined],
  })
  const { day, month, total } = row ?? { day: 0n, month: 0n, total: 0n }
  return (
    isAbove(day + grossKobo, dailyNgn) ||
    isAbove(month + grossKobo, monthlyNgn) ||
    isAbove(total + grossKobo, totalNgn)
  )
}

const koboPerNaira = 100n

function isAbove(kobo: bigint, limitNgn: number | undefined): boolean {
  return limitNgn !== undefined && kobo > BigInt(limitNgn) * koboPerNaira
}

/** Whether a creator's identity is verified (docs/decisions/0057), and how old the account is. */
export interface CreatorIdentity {
  readonly email: string
  readonly verified: boolean
  readonly ageDays: number
}

/**
 * Locks the user's row in share mode, so that a verification, a freezing or a change of the e-mail in progress ends first.
 * Otherwise a withdrawal could be held just after the verification released the others. Then, as who ends sessions does, it locks the
 * session, which stays open until the transaction ends. Throws `account_frozen`, and `unauthorized` when the session has ended.
 */
export async function readIdentity(
  trx: Knex,
  { userId, sessionHash }: { readonly userId: string; readonly sessionHash: Buffer },
): Promise<CreatorIdentity> {
  const [row] = await query<CreatorIdentity & { frozen: boolean; open: boolean }>(trx, {
    name: 'identity.read',
    text: /* sql */ `
      with owner as materialized (
        select email, identity_verified_at is not null as verified, frozen_at is not null as frozen,
          extract(epoch from clock_timestamp() - created_at)::float8 / 86400 as "ageDays"
        from users where id = $1 for share)
      select owner.*, exists (select from sessions where token_hash = $2 and user_id = $1 for share) as open from owner`,
    values: [userId, sessionHash],
  })
  if (row === undefined) throw new Error(`There is no user ${userId}`)
  const { frozen, open, ...identity } = row
  if (frozen) throw new DomainError('account_frozen')
  if (!open) throw new DomainError('unauthorized')
  return identity
}

/** The creator's withdrawals of the last 24 hours, and of the last `monthDays`, that have not failed. */
interface OwnSums {
  readonly dayKobo: bigint
  readonly monthKobo: bigint
}

/** A withdrawal that is about to be stored, for the limits of its creator and of where it goes. */
export interface LimitedWithdrawal extends SharedPayee {
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
  { ageDays, dayKobo, monthKobo }: Pick<CreatorIdentity, 'ageDays'> & OwnSums,
  withdrawal: LimitedWithdrawal,
  limits: Limits,
): Promise<boolean> {
  const { grossKobo } = withdrawal
  if (isAbove(grossKobo, limits.identitySingleNgn)) return true
  if (isAbove(dayKobo + grossKobo, limits.identityDailyNgn)) return true
  if (ageDays < monthDays && isAbove(monthKobo + grossKobo, limits.youngNgn)) return true
  for (const { column, value, sums } of sharedWith(withdrawal, limits))
    if (await exceedsSums(trx, grossKobo, column, value, sums)) return true
  return false
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
  await queueEmail(uow, {
    kind: 'identity-verification',
    to,
    subject: `Please verify your identity for your withdrawal from ${site}`,
    blocks: [
      `Your withdrawal of NGN ${displayText(netKobo, 2)} from ${site} waits until we have verified who you are:`,
      { standout: reference },
      'The money is set aside and nobody else can have it. It is sent at the exchange rate of that day, and never more than this. Reply to this e-mail, and we tell you what we need to see.',
      'If you did not ask for this withdrawal, change your password and tell us at once.',
    ],
  })
}
