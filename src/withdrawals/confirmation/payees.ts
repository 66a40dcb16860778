import type { Knex } from 'knex'
import { type RecentChanges, recentChanges } from '../../accounts/protection.js'
import { unknownNetwork } from '../../http/limits/client-address.js'
import { DomainError } from '../../kernel/errors.js'
import { maskAccount } from '../../kernel/text.js'
import type { Config } from '../../platform/config/config.js'
import { query, write } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { type BankAccount, openName, payeeContext, sealName } from '../bank-account.js'
import type { PayeeRecord } from '../schemas.js'
import type { ConfirmationReason } from '../withdrawal.js'

export interface PayeeUse extends BankAccount {
  readonly userId: string
  readonly accountHash: Buffer
  readonly network: string
  readonly deviceHash: Buffer
}

/**
 * What the creator's earlier withdrawals say about a new one. An account is trusted by those that the provider accepted. Trust from
 * before the credentials were voided is of somebody else.
 */
export interface PayeeHistory extends RecentChanges {
  /** One was accepted, or one to another account has not failed: this account is not the first. */
  readonly firstTaken: boolean
  /** One that nobody has confirmed is on its way, to whichever account. */
  readonly unconfirmed: boolean
  /** The device has signed in to the account for more than a day. */
  readonly oldDevice: boolean
  /** One went to this account, or one to it was confirmed, since the payee was last removed. */
  readonly trusted: boolean
  readonly removed: boolean
  /** The account was not used before, or not since it was removed. */
  readonly added: boolean
  /** Earlier ones are known to come from networks and devices that are all others. */
  readonly newClient: boolean
  /** Those of the last 24 hours, and of the last `monthDays`, that have not failed. */
  readonly dayKobo: bigint
  readonly monthKobo: bigint
}

/** So long an account is young, with one limit for all its withdrawals: waiting a day does not help. */
export const monthDays = 30

/**
 * Records the use of a bank account, and reads what is known about it, the caller and the owner. Call it under the lock of the
 * creator's ledger account, and of the user's row.
 */
export async function usePayee(
  trx: Knex.Transaction,
  config: Pick<Config, 'dataKeys'>,
  use: PayeeUse,
): Promise<PayeeHistory> {
  const [history] = await query<PayeeHistory>(trx, {
    name: 'payees.use',
    text: /* sql */ `
      with earlier as (
        select confirmed_at, removed_at, last_used_at from payees where user_id = $1 and account_hash = $2),
      owner as (
        select coalesce(u.credentials_void_before, '-infinity') as since, ${recentChanges} from users u where u.id = $1),
      used as (
        insert into payees as p (user_id, account_hash, bank_code, last_four, sealed_name)
        values ($1, $2, $3, right($4, 4), $5)
        on conflict (user_id, account_hash) do update
           set sealed_name = excluded.sealed_name, last_used_at = excluded.last_used_at,
               added_at = case when p.removed_at >= p.last_used_at then excluded.added_at else p.added_at end),
      accepted as (
        select account_hash, created_at, client_network, device_hash from withdrawals
         where user_id = $1 and submitted_at is not null),
      recent as (
        select coalesce(sum(gross_kobo) filter (where created_at > clock_timestamp() - interval '24 hours'), 0)::bigint as "dayKobo",
          coalesce(sum(gross_kobo), 0)::bigint as "monthKobo" from withdrawals
         where user_id = $1 and status <> 'failed' and created_at > clock_timestamp() - interval '${monthDays} days')
      select exists (select from accepted) or exists (
          select from withdrawals
           where user_id = $1 and status <> 'failed' and account_hash is distinct from $2) as "firstTaken",
        exists (
          select from withdrawals where user_id = $1 and status = 'pending' and confirmed_at is null) as unconfirmed,
        exists (
          select from devices
           where user_id = $1 and device_hash = $7 and first_seen_at < clock_timestamp() - interval '1 day') as "oldDevice",
        exists (select from accepted where account_hash = $2 and created_at > greatest(e.removed_at, owner.since))
          or coalesce(e.confirmed_at > greatest(e.removed_at, owner.since), false) as trusted,
        e.removed_at is not null as removed,
        coalesce(e.removed_at >= e.last_used_at, e.last_used_at is null) as added,
        exists (select from accepted where client_network is not null)
          and not exists (
            select from accepted where created_at > owner.since and (client_network = nullif($6, '${unknownNetwork}') or device_hash = $7)) as "newClient",
        owner.email, owner.proven, owner.at, owner."moneyEmail", owner.changed,
        recent.*
      from owner cross join recent left join earlier e on true`,
    values: [
      use.userId,
      use.accountHash,
      use.bankCode,
      use.accountNumber,
      sealName(config, payeeContext(use.accountHash), use.accountName),
      use.network,
      use.deviceHash,
    ],
  })
  if (history === undefined) throw new Error('The payee was not written')
  return history
}

/** The creator has confirmed a withdrawal to this account. One that was removed since it was asked for stays removed. */
export async function markPayeeConfirmed(trx: Knex.Transaction, withdrawalId: string): Promise<void> {
  await write(trx, {
    name: 'payees.confirm',
    text: /* sql */ `
      update payees p set confirmed_at = clock_timestamp() from withdrawals w
       where w.id = $1 and p.user_id = w.user_id and p.account_hash = w.account_hash
         and (p.removed_at is null or p.removed_at < w.created_at)`,
    values: [withdrawalId],
  })
}

interface PayeeRow extends Omit<PayeeRecord, 'accountNumber' | 'accountName' | 'addedAt' | 'lastUsedAt'> {
  readonly accountHash: Buffer
  readonly sealedName: Buffer
  readonly lastFour: string
  readonly addedAt: Date
  readonly lastUsedAt: Date
}

/** So many of the last used are listed. */
const maxListed = 100

/** A creator's payees, the last used first. `confirmed`: a withdrawal to one needs no confirmation for its account. */
export async function listPayees(
  services: Pick<Services, 'db' | 'config'>,
  userId: string,
): Promise<PayeeRecord[]> {
  const rows = await query<PayeeRow>(services.db, {
    name: 'payees.list',
    text: /* sql */ `
      select p.id, p.bank_code as "bankCode", b.name as "bankName", p.last_four as "lastFour",
        p.account_hash as "accountHash", p.sealed_name as "sealedName", p.added_at as "addedAt", p.last_used_at as "lastUsedAt",
        coalesce(p.confirmed_at > greatest(p.removed_at, u.credentials_void_before, '-infinity'), false) or exists (
          select from withdrawals w
           where w.user_id = $1 and w.account_hash = p.account_hash and w.submitted_at is not null
             and w.created_at > greatest(p.removed_at, u.credentials_void_before, '-infinity')) as confirmed
        from payees p join users u on u.id = p.user_id left join banks b on b.code = p.bank_code
       where p.user_id = $1 and (p.removed_at is null or p.removed_at < p.last_used_at)
       order by p.last_used_at desc, p.id limit ${maxListed}`,
    values: [userId],
  })
  return rows.map(({ lastFour, accountHash, sealedName, addedAt, lastUsedAt, ...rest }) => ({
    ...rest,
    accountNumber: maskAccount(lastFour),
    accountName: openName(services.config, payeeContext(accountHash), sealedName),
    addedAt: addedAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
  }))
}

/** Removes a payee: the next withdrawal to this account needs a confirmation. Throws `payee_not_found`. */
export async function removePayee(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  id: string,
): Promise<void> {
  const rows = await transact(({ trx }) =>
    query(trx, {
      name: 'payees.remove',
      text: /* sql */ `
        update payees set removed_at = clock_timestamp()
         where id = $1 and user_id = $2 and (removed_at is null or removed_at < last_used_at) returning id`,
      values: [id, userId],
    }),
  )
  if (rows.length === 0) throw new DomainError('payee_not_found')
}

/** Deletes the payees of a creator, and from where the withdrawals were asked for. The withdrawals stay. */
export async function forgetPayees(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'payees.forget',
    text: 'delete from payees where user_id = $1',
    values: [userId],
  })
  await write(trx, {
    name: 'payees.forget-clients',
    text: 'update withdrawals set client_network = null, device_hash = null where user_id = $1',
    values: [userId],
  })
}

const daySeconds = 86_400

/**
 * Why the creator must confirm a withdrawal (docs/decisions/0057); null: need not. The first account is free, but not one that was
 * removed. `all`: nor for a new session or device, nor for a second withdrawal while the first is on its way. `sessionAge`: seconds.
 */
export function reasonToConfirm(
  asks: Config['withdrawals']['confirmAccounts'],
  { firstTaken, unconfirmed, oldDevice, trusted, removed, newClient, changed }: PayeeHistory,
  sessionAge: number,
): ConfirmationReason | null {
  if (asks === 'off') return null
  const asksFirst = asks === 'all' && (sessionAge < daySeconds || !oldDevice || unconfirmed)
  if (!trusted && (firstTaken || removed || asksFirst)) return 'new_account'
  if (changed) return 'recent_change'
  return newClient ? 'new_client' : null
}
