import type { Account } from '../accounts/account.js'
import { changeUser } from '../accounts/change-user.js'
import { User } from '../accounts/models.js'
import { notifyOwner, type Origin } from '../accounts/notify-owner.js'
import { walletNotice } from '../accounts/payout-wallets/mails.js'
import {
  chooseTipsTo,
  readPayoutWallet,
  type TipDestination,
} from '../accounts/payout-wallets/payout-wallet.js'
import { withStepUp } from '../accounts/step-up/step-up.js'
import type { SteppedUpRequest } from '../accounts/step-up/step-up-code.js'
import { DomainError } from '../kernel/errors.js'
import { maskAddress } from '../kernel/text.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Services } from '../services.js'
import { lockCreator } from './find-creator.js'
import { linkDomain, unlinkDomain, verifyDomain } from './link-domain.js'
import type { CreatorProfile, ProfileChange } from './schemas.js'
import { type CreatorSettings, mergeSettings, parseSettings } from './settings.js'

/** Reads a creator's own profile. */
export async function readProfile(
  { db }: Pick<Services, 'db'>,
  userId: string,
): Promise<{ creator: CreatorProfile }> {
  const user = await User.withWallet(db).findById(userId).throwIfNotFound()
  const { id, name, walletPublicKey, solDomain, twitterHandle, discordHandle, settings } = user
  const walletAddress = walletPublicKey === null ? null : maskAddress(walletPublicKey)
  const tokensChosen = ['acceptedTokens', 'autoConvertUsdc'].some((key) => Object.hasOwn(settings, key))
  return {
    creator: {
      id,
      name,
      walletAddress,
      walletPublicKey,
      solDomain,
      twitterHandle,
      discordHandle,
      settings: parseSettings(settings, user.takesTips === true),
      tokensChosen,
    },
  }
}

/**
 * Changes the given parts of a profile in one transaction. Settings are merged key by key. A change of `tipsTo` needs a step-up,
 * and the owner is told. Throws `domain_not_yours`, `invalid_settings`, `payout_wallet_required` and what `withStepUp` throws.
 */
export async function changeProfile(
  services: Pick<Services, 'config' | 'db' | 'names' | 'transact'>,
  account: Pick<Account, 'id' | 'walletPublicKey'>,
  { name, solDomain, signature, settings, ...presented }: ProfileChange,
  origin: Origin,
): Promise<void> {
  const verified = solDomain == null ? solDomain : await verifyDomain(services, account, solDomain, signature)
  const change = async ({ trx }: UnitOfWork): Promise<void> => {
    await lockCreator(trx, account.id)
    if (name !== undefined) await changeUser(trx, account.id, { name })
    if (verified === null) await unlinkDomain(trx, account.id)
    else if (verified !== undefined) await linkDomain(trx, account.id, verified)
    if (settings === undefined) return
    const stored = await User.query(trx).findById(account.id).throwIfNotFound()
    await changeUser(trx, account.id, { settings: mergeSettings(stored.settings, settings) })
  }
  const tipsTo = await findNewDestination(services, account.id, settings?.tipsTo)
  if (tipsTo === undefined) return services.transact(change)
  const { publicUrl } = services.config.http
  await withStepUp(services, requestFor(account.id, tipsTo, publicUrl), presented, async (uow) => {
    await change(uow)
    if (!(await chooseTipsTo(uow.trx, account.id, tipsTo))) return
    await notifyOwner(
      uow,
      publicUrl,
      account.id,
      walletNotice({ kind: 'tips-to-changed', ...tipsTo }),
      origin,
    )
  })
}

/** Where new tips shall go that now go elsewhere. Throws `payout_wallet_required`. */
async function findNewDestination(
  { db }: Pick<Services, 'db'>,
  userId: string,
  tipsTo: CreatorSettings['tipsTo'] | undefined,
): Promise<TipDestination | undefined> {
  if (tipsTo === undefined) return undefined
  const takesTips = tipsTo === 'payout_wallet'
  const stored = await readPayoutWallet(db, userId)
  if (stored === undefined && takesTips) throw new DomainError('payout_wallet_required')
  return stored === undefined || stored.takesTips === takesTips
    ? undefined
    : { takesTips, wallet: stored.wallet }
}

function requestFor(
  userId: string,
  { takesTips, wallet }: TipDestination,
  publicUrl: string,
): SteppedUpRequest {
  const site = new URL(publicUrl).host
  const wish = takesTips
    ? `have new crypto tips at ${site} sent to your payout wallet ${wallet}; they cannot be withdrawn as naira`
    : `have new crypto tips at ${site} sent to the wallet that ${site} keeps for you, and not to ${wallet} any more`
  return { userId, bound: ['tips-to', String(takesTips), wallet], wish }
}
