import type { z } from 'zod'
import { maskAddress } from '../kernel/text.js'
import type { Account } from './account.js'
import { type Auth, type User, userOf } from './schemas.js'
import type { OpenedSession } from './sessions/session.js'

/** The contract's user object with exactly the fields that this endpoint's schema lists. */
export function presentUser<View extends keyof typeof userOf>(
  account: Account,
  view: View,
): z.output<(typeof userOf)[View]> {
  const user = everyField(account)
  const listed = Object.keys(userOf[view].shape) as (keyof User)[]
  return Object.fromEntries(listed.map((field) => [field, user[field]])) as z.output<(typeof userOf)[View]>
}

/** The contract's auth object. */
export function presentAuth({ accessToken, expiresAt }: OpenedSession): Auth {
  return { accessToken, tokenType: 'Bearer', expiresAt: expiresAt.toISOString() }
}

function everyField(account: Account): User {
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
