import type { Knex } from 'knex'
import { keyedHash } from '../../kernel/personal-data.js'
import { ProviderError } from '../../kernel/provider-error.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import { within } from '../../platform/within.js'
import type { Services } from '../../services.js'
import type { BankAccount } from '../sealed-account.js'
import { bankAnswerMs } from './banks.js'

/**
 * Limits of what all creators together withdraw to one bank account, and to accounts whose holders have one name
 * (docs/decisions/0057). One person behind many creators is seen by where the money goes.
 */
type Limits = Pick<Config['withdrawals'], 'perAccount' | 'perName'>
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

/** What is compared of a withdrawal: its account and its name, each with its limits. Only those that have limits. */
function comparedWith({ accountHash, nameHash }: SharedPayee, { perAccount, perName }: Limits) {
  const both = [
    { column: 'account_hash', hash: accountHash, sums: perAccount },
    { column: 'name_hash', hash: nameHash, sums: perName },
  ] as const
  return both.flatMap(({ hash, ...rest }) =>
    hash === null || !isLimited(rest.sums) ? [] : [{ hash, ...rest }],
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
  const keys = comparedWith(payee, limits).map(({ hash }) => hash.readBigInt64BE())
  if (keys.length === 0) return
  await query(trx, {
    name: 'identity.lock-payee',
    text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
    values: [keys.toSorted((a, b) => (a < b ? -1 : 1))],
  })
}

/** Whether a withdrawal, with what all creators have withdrawn there, is above a limit. Call it under the locks above. */
export async function exceedsShared(
  trx: Knex.Transaction,
  payee: SharedPayee,
  grossKobo: bigint,
  limits: Limits,
): Promise<boolean> {
  for (const { column, hash, sums } of comparedWith(payee, limits)) {
    const [row] = await query<{ day: bigint; month: bigint; total: bigint }>(trx, {
      name: `identity.${column}`,
      text: /* sql */ `
        select coalesce(sum(gross_kobo) filter (where created_at > clock_timestamp() - interval '24 hours'), 0)::bigint as day,
          coalesce(sum(gross_kobo) filter (where created_at > clock_timestamp() - interval '30 days'), 0)::bigint as month,
          coalesce(sum(gross_kobo), 0)::bigint as total
        from withdrawals where ${column} = $1 and status <> 'failed'`,
      values: [hash],
    })
    const { day, month, total } = row ?? { day: 0n, month: 0n, total: 0n }
    const { dailyNgn, monthlyNgn, totalNgn } = sums
    const pairs = [
      [day, dailyNgn],
      [month, monthlyNgn],
      [total, totalNgn],
    ] as const
    if (pairs.some(([kobo, ngn]) => ngn !== undefined && kobo + grossKobo > BigInt(ngn) * 100n)) return true
  }
  return false
}
