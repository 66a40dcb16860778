import type { User } from './models.js'

/** A user as its owner may see it: no secrets, and the public key of the custody wallet once that is provisioned. */
export interface Account
  extends Pick<
    User,
    'id' | 'email' | 'name' | 'emailVerifiedAt' | 'solDomain' | 'twitterHandle' | 'discordHandle' | 'frozenAt'
  > {
  readonly walletPublicKey: string | null
}

/** The columns of an account in SQL that names `users` `u` and `wallets` `w`. */
export const accountColumns = /* sql */ `
  u.id, u.email, u.name, u.email_verified_at as "emailVerifiedAt", u.sol_domain as "solDomain",
  u.twitter_handle as "twitterHandle", u.discord_handle as "discordHandle", u.frozen_at as "frozenAt",
  w.public_key as "walletPublicKey"`
