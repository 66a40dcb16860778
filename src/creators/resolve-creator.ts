import { walletChannel } from '../accounts/wallets/provision-wallets.js'
import { isAddress } from '../kernel/base58.js'
import { DomainError } from '../kernel/errors.js'
import { parseUserId } from '../kernel/ids.js'
import { isSolDomain, parseSolDomain } from '../kernel/sol-domain.js'
import { cleanLine } from '../kernel/text.js'
import { waitForRow } from '../platform/database/wait-for-row.js'
import type { Services } from '../services.js'
import { type Creator, findByDomain, findByHandle, findByUserId, findByWallet } from './find-creator.js'
import { parseHandle } from './handles.js'
import { defaultSettings } from './settings.js'

/** A creator, and where a tip goes now. */
export interface PayableCreator extends Pick<Creator, 'userId' | 'settings'> {
  readonly wallet: string
  /** The creator's custody wallet, where the tip goes to their payout wallet instead. */
  readonly custodyWallet: string | undefined
}

/**
 * Resolves a `creatorId`. It is read in this order: user id (UUID, with or without `auth_`), wallet, `.sol` domain,
 * handle. A wallet, or the payee of a domain, may belong to no account. Throws `creator_not_found`, also when a handle
 * is ambiguous.
 */
export async function resolveCreator(
  services: Pick<Services, 'db' | 'names'>,
  creatorId: string,
): Promise<Creator> {
  const name = cleanLine(creatorId)
  const userId = parseUserId(name)
  if (userId !== undefined) return required(await findByUserId(services.db, userId))
  if (isAddress(creatorId)) return resolveWallet(services, creatorId)
  if (isSolDomain(name)) return resolveDomain(services, parseSolDomain(name))
  const handle = parseHandle(name)
  if (handle.twitter === undefined && handle.discord === undefined) throw new DomainError('creator_not_found')
  return required(await findByHandle(services.db, handle))
}

/**
 * A linked domain resolves to the creator that linked it while its owner on the chain is the same as at linking.
 * Otherwise it resolves to the payee on the chain: after a sale, tips go to the new owner.
 */
async function resolveDomain(
  { db, names }: Pick<Services, 'db' | 'names'>,
  domain: string | undefined,
): Promise<Creator> {
  if (domain === undefined) throw new DomainError('creator_not_found')
  const [linked, record] = await Promise.all([findByDomain(db, domain), names.fetchOrCached(domain)])
  if (linked !== undefined && linked.domainOwner === record?.owner) return linked
  if (record?.payee === undefined) throw new DomainError('creator_not_found')
  return resolveWallet({ db }, record.payee)
}

async function resolveWallet({ db }: Pick<Services, 'db'>, wallet: string): Promise<Creator> {
  const unregistered = { userId: undefined, wallet, payoutWallet: undefined, settings: defaultSettings }
  return (await findByWallet(db, wallet)) ?? unregistered
}

function required(creator: Creator | undefined): Creator {
  if (creator === undefined) throw new DomainError('creator_not_found')
  return creator
}

/** The payout address of a tip that is made now: the payout wallet if the creator wants it, else the wallet. */
function payable(
  { userId, payoutWallet, settings }: Omit<Creator, 'wallet'>,
  wallet: string,
): PayableCreator {
  return payoutWallet === undefined
    ? { userId, settings, wallet, custodyWallet: undefined }
    : { userId, settings, wallet: payoutWallet, custodyWallet: wallet }
}

/**
 * Resolves a `creatorId` to a creator with a wallet. Waits a limited time for a wallet that is being provisioned, then
 * throws `creator_wallet_pending`. Throws `creator_not_found` for an unregistered address that nobody can pay from again.
 */
export async function resolvePayableCreator(
  services: Pick<Services, 'db' | 'notifications' | 'config' | 'names' | 'chain'>,
  creatorId: string,
): Promise<PayableCreator> {
  const creator = await resolveCreator(services, creatorId)
  const { userId, wallet } = creator
  if (wallet !== undefined) {
    if (userId === undefined && !(await isPayable(services, wallet)))
      throw new DomainError('creator_not_found')
    return payable(creator, wallet)
  }
  if (userId === undefined) throw new Error('A creator has neither an account nor a wallet')
  const provisioned = await waitForRow(
    async () => {
      const again = await findByUserId(services.db, userId)
      return again?.wallet === undefined ? undefined : payable(again, again.wallet)
    },
    {
      notifications: services.notifications,
      channel: walletChannel(userId),
      totalMs: services.config.tips.walletWaitMs,
    },
  )
  if (provisioned === undefined) throw new DomainError('creator_wallet_pending')
  return provisioned
}

/** Burns what it receives. No account need exist there, so it is known by its name. */
const incinerator = '1nc1nerator11111111111111111111111111111111'

/** Whether money sent to an address that is not registered may belong to a person. */
async function isPayable({ chain }: Pick<Services, 'chain'>, wallet: string): Promise<boolean> {
  return wallet !== incinerator && chain.isWallet(wallet)
}

/** An account or a wallet, such as the subject of a list of tips. */
export type Party = { readonly userId: string } | { readonly wallet: string }

/**
 * Resolves the address of a list: a user id, a wallet or a `.sol` domain. While the chain does not answer, a linked domain
 * means the creator who linked it. Undefined for anything else.
 */
export async function findParty(
  { db, names }: Pick<Services, 'db' | 'names'>,
  address: string,
): Promise<Party | undefined> {
  const name = cleanLine(address)
  const userId = parseUserId(name)
  const domain = parseSolDomain(name)
  if (userId !== undefined) return { userId }
  if (isAddress(address)) return { wallet: address }
  if (domain === undefined) return undefined
  const [linked, record] = await Promise.all([findByDomain(db, domain), names.fetchOrKnown(domain)])
  if (linked !== undefined && (record === undefined || record.owner === linked.domainOwner))
    return { userId: linked.userId }
  return record?.payee === undefined ? undefined : { wallet: record.payee }
}
