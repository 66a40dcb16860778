import type { Knex } from 'knex'
import { lockUserExceptSessions } from '../accounts/account.js'
import { DomainError } from '../kernel/errors.js'
import { query } from '../platform/database/database.js'
import type { HandleForms } from './handles.js'
import { type CreatorSettings, parseSettings } from './settings.js'

/** The recipient of a tip. `userId` is undefined for a wallet that belongs to no account. */
export interface Creator {
  readonly userId: string | undefined
  /** The custody wallet, or that of no account. */
  readonly wallet: string | undefined
  /** The creator's own wallet, if new tips go to it. */
  readonly payoutWallet: string | undefined
  readonly settings: CreatorSettings
}

/** A creator with a linked domain. `domainOwner` owned the domain when it was linked. */
export type LinkedCreator = Creator & { readonly userId: string; readonly domainOwner: string }

interface CreatorRow {
  readonly userId: string
  readonly wallet: string | null
  readonly payoutWallet: string | null
  readonly settings: object
  readonly closed: boolean
}

/** Tips to a frozen account go to its custody wallet: a thief may have set the payout wallet. */
const select = /* sql */ `
  select u.id as "userId", w.public_key as wallet, p.wallet as "payoutWallet", u.settings, u.sol_domain_owner as "domainOwner",
    u.closed_at is not null as closed
  from users u join wallets w on w.user_id = u.id
    left join payout_wallets p on p.user_id = u.id and p.takes_tips and u.frozen_at is null`

/** Finds the account with this id. This and the next three throw `creator_not_found` for an account that was closed. */
export async function findByUserId(db: Knex, userId: string): Promise<Creator | undefined> {
  const [row] = await query<CreatorRow>(db, {
    name: 'creators.by_user',
    text: `${select} where u.id = $1`,
    values: [userId],
  })
  return row && creatorFrom(row)
}

/** Finds the account with this custody wallet, or whose tips go to this payout wallet. */
export async function findByWallet(db: Knex, wallet: string): Promise<Creator | undefined> {
  const [row] = await query<CreatorRow>(db, {
    name: 'creators.by_wallet',
    text: /* sql */ `
      ${select}
      where u.id = coalesce((select user_id from wallets where public_key = $1),
                            (select user_id from payout_wallets where wallet = $1 and takes_tips))`,
    values: [wallet],
  })
  return row && creatorFrom(row)
}

/** Finds the account that linked this domain. The caller checks whether the domain still has the same owner. */
export async function findByDomain(db: Knex, domain: string): Promise<LinkedCreator | undefined> {
  const [row] = await query<CreatorRow & { domainOwner: string }>(db, {
    name: 'creators.by_domain',
    text: `${select} where lower(u.sol_domain) = $1`,
    values: [domain],
  })
  return row && { ...creatorFrom(row), userId: row.userId, domainOwner: row.domainOwner }
}

/** Finds the account with this handle. Undefined also when two accounts match. */
export async function findByHandle(
  db: Knex,
  { twitter, discord }: HandleForms,
): Promise<Creator | undefined> {
  const [row, another] = await query<CreatorRow>(db, {
    name: 'creators.by_handle',
    text: `${select} where lower(u.twitter_handle) = $1 or lower(u.discord_handle) = $2 limit 2`,
    values: [twitter ?? null, discord ?? null],
  })
  return row && another === undefined ? creatorFrom(row) : undefined
}

/** Locks a creator as `lockUserExceptSessions` does. Throws `unauthorized` when the account was closed meanwhile. */
export async function lockCreator(trx: Knex.Transaction, userId: string): Promise<void> {
  const { closedAt } = await lockUserExceptSessions(trx, userId)
  if (closedAt !== null) throw new DomainError('unauthorized')
}

/** A closed account's wallet still receives credit, so it must not pass for an unknown wallet. */
function creatorFrom({ userId, wallet, payoutWallet, settings, closed }: CreatorRow): Creator {
  if (closed) throw new DomainError('creator_not_found')
  return {
    userId,
    wallet: wallet ?? undefined,
    payoutWallet: payoutWallet ?? undefined,
    settings: parseSettings(settings, payoutWallet !== null),
  }
}

/**
 * SQL: the wallet of whose party a wallet's lists and streams are. Of a payout wallet that takes tips it is the creator's custody
 * wallet.
 */
export function partyWalletSql(wallet: string): string {
  return /* sql */ `
    coalesce((select w.public_key from payout_wallets o join wallets w on w.user_id = o.user_id
               where o.wallet = ${wallet} and o.takes_tips), ${wallet})`
}
