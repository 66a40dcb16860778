import { Model, snakeCaseMappers } from 'objection'

/** A person with a login. Every user can be tipped: a creator is a user with a wallet. */
export class User extends Model {
  static override tableName = 'users'
  static override columnNameMappers = snakeCaseMappers()
  declare id: string
  /** Trimmed, NFC, lower case. Addresses are compared in this form. */
  declare email: string
  declare name: string
  declare passwordHash: string
  declare emailVerifiedAt: Date | null
  declare solDomain: string | null
  declare twitterHandle: string | null
  declare discordHandle: string | null
  declare createdAt: Date
}

/** A user as its owner may see it: no secrets, and the public key of the custody wallet once that is provisioned. */
export interface Account
  extends Pick<
    User,
    'id' | 'email' | 'name' | 'emailVerifiedAt' | 'solDomain' | 'twitterHandle' | 'discordHandle'
  > {
  readonly walletPublicKey: string | null
}

/** The columns of an account. The query names `users` `u` and `wallets` `w`. */
export const accountColumns = /* sql */ `
  u.id, u.email, u.name, u.email_verified_at as "emailVerifiedAt", u.sol_domain as "solDomain",
  u.twitter_handle as "twitterHandle", u.discord_handle as "discordHandle", w.public_key as "walletPublicKey"`
