import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import type { HandleForms } from './handles.js'
import { type CreatorSettings, creatorSettings } from './settings.js'

/** Whom a tip goes to. `userId` is undefined for a wallet that belongs to no account. */
export interface Creator {
  readonly userId: string | undefined
  readonly wallet: string | undefined
  readonly settings: CreatorSettings
}

/** The creator that linked a domain, and who held the domain then. */
export type LinkedCreator = Creator & { readonly userId: string; readonly domainOwner: string }

interface CreatorRow {
  readonly userId: string
  readonly wallet: string | null
  readonly settings: unknown
}

const select = /* sql */ `
  select u.id as "userId", w.public_key as wallet, u.settings, u.sol_domain_owner as "domainOwner"
  from users u join wallets w on w.user_id = u.id`

/** The account with this id. */
export async function readByUserId(db: Knex, userId: string): Promise<Creator | undefined> {
  const [row] = await query<CreatorRow>(db, {
    name: 'creators.by_user',
    text: `${select} where u.id = $1`,
    values: [userId],
  })
  return row && creatorFrom(row)
}

/** The account whose own wallet this is. */
export async function readByWallet(db: Knex, wallet: string): Promise<Creator | undefined> {
  const [row] = await query<CreatorRow>(db, {
    name: 'creators.by_wallet',
    text: `${select} where w.public_key = $1`,
    values: [wallet],
  })
  return row && creatorFrom(row)
}

/** The account that has linked this domain. Whether the link still counts is not known here. */
export async function readByDomain(db: Knex, domain: string): Promise<LinkedCreator | undefined> {
  const [row] = await query<CreatorRow & { domainOwner: string }>(db, {
    name: 'creators.by_domain',
    text: `${select} where lower(u.sol_domain) = $1`,
    values: [domain],
  })
  return row && { ...creatorFrom(row), userId: row.userId, domainOwner: row.domainOwner }
}

/** The one account with this handle; undefined also when it fits two people. */
export async function readByHandle(
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

function creatorFrom({ userId, wallet, settings }: CreatorRow): Creator {
  return { userId, wallet: wallet ?? undefined, settings: creatorSettings.parse(settings) }
}
