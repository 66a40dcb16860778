import type { z } from 'zod'
import { maskAddress } from '../kernel/text.js'
import type { Account } from './account.js'
import { type User, userViews } from './schemas.js'

/** The API's user object, with exactly the fields that this view's schema lists. */
export function presentUser<View extends keyof typeof userViews>(
  account: Account,
  view: View,
): z.output<(typeof userViews)[View]> {
  const user = presentAllFields(account)
  const listed = Object.keys(userViews[view].shape) as (keyof User)[]
  return Object.fromEntries(listed.map((field) => [field, user[field]])) as z.output<(typeof userViews)[View]>
}

function presentAllFields(account: Account): User {
  const { id, email, name, walletPublicKey, emailVerifiedAt } = account
  const onboarded = walletPublicKey !== null && emailVerifiedAt !== null
  return {
    id,
    email,
    name,
    full_name: name,
    first_name: name.split(/\s/, 1)[0] ?? null,
    roles: ['user'],
    walletAddress: walletPublicKey === null ? null : maskAddress(walletPublicKey),
    walletPublicKey,
    emailVerifiedAt: emailVerifiedAt?.toISOString() ?? null,
    onboardingComplete: onboarded,
    onboarding_complete: onboarded,
    solDomain: account.solDomain,
    twitterHandle: account.twitterHandle,
    discordHandle: account.discordHandle,
  }
}
