import type { Knex } from 'knex'
import { isAddress } from '../kernel/base58.js'
import { DomainError } from '../kernel/errors.js'
import { userIdFrom } from '../kernel/ids.js'
import { query } from '../platform/db.js'
import { waitFor } from '../platform/wait-for.js'
import type { Services } from '../services.js'
import { type CreatorSettings, creatorSettings, defaultSettings } from './settings.js'

/** Whom a tip goes to. `userId` is undefined for a wallet that belongs to no account. */
interface Creator {
  readonly userId: string | undefined
  readonly wallet: string | undefined
  readonly settings: CreatorSettings
}

export type PayableCreator = Creator & { readonly wallet: string }

/**
 * Finds the creator a caller means: user id (UUID, with or without `auth_`) or wallet address. A valid wallet of
 * no account is payable too. Throws `creator_not_found`.
 */
async function resolveCreator({ db }: Pick<Services, 'db'>, creatorId: string): Promise<Creator> {
  const userId = userIdFrom(creatorId)
  const wallet = isAddress(creatorId) ? creatorId : undefined
  if (userId === undefined && wallet === undefined) throw new DomainError('creator_not_found')
  const registered = await readCreator(db, userId, wallet)
  if (registered !== undefined) return registered
  if (wallet === undefined) throw new DomainError('creator_not_found')
  return { userId: undefined, wallet, settings: defaultSettings }
}

/**
 * The creator with a wallet to pay to. One that is still being provisioned is waited for, bounded; then
 * `creator_wallet_pending`.
 */
export async function payableCreator(
  services: Pick<Services, 'db' | 'hints' | 'config'>,
  creatorId: string,
): Promise<PayableCreator> {
  const creator = await resolveCreator(services, creatorId)
  if (isPayable(creator)) return creator
  const provisioned = await waitFor(
    async () => {
      const again = await readCreator(services.db, creator.userId, undefined)
      return again !== undefined && isPayable(again) ? again : undefined
    },
    {
      hints: services.hints,
      channel: `wallets.${creator.userId}`,
      totalMs: services.config.tips.walletWaitMs,
    },
  )
  if (provisioned === undefined) throw new DomainError('creator_wallet_pending')
  return provisioned
}

function isPayable(creator: Creator): creator is PayableCreator {
  return creator.wallet !== undefined
}

interface CreatorRow {
  userId: string
  wallet: string | null
  settings: unknown
}

async function readCreator(
  db: Knex,
  userId: string | undefined,
  wallet: string | undefined,
): Promise<Creator | undefined> {
  const [row] = await query<CreatorRow>(db, {
    name: 'creators.read',
    text: `select u.id as "userId", w.public_key as wallet, u.settings
           from users u join wallets w on w.user_id = u.id
           where u.id = $1::uuid or w.public_key = $2`,
    values: [userId ?? null, wallet ?? null],
  })
  return (
    row && {
      userId: row.userId,
      wallet: row.wallet ?? undefined,
      settings: creatorSettings.parse(row.settings),
    }
  )
}
