import type { Knex } from 'knex'
import { Model } from 'objection'
import { BaseModel } from '../platform/database/base-model.js'

/** A creator's custody wallet. The row is created with the account; a worker adds the keys (wallets/provision-wallets.ts). */
export class Wallet extends BaseModel {
  static override tableName = 'wallets'
  declare id: bigint
  declare userId: string
  /** Null until it is provisioned, as are the next two. */
  declare publicKey: string | null
  declare sealedSecret: Buffer | null
  declare keyVersion: number | null
}

/** A person with a login. Every user can be tipped: a creator is a user with a wallet. */
export class User extends BaseModel {
  static override tableName = 'users'
  static override jsonAttributes = ['settings']
  static override relationMappings = {
    wallet: {
      relation: Model.HasOneRelation,
      modelClass: Wallet,
      join: { from: 'users.id', to: 'wallets.user_id' },
    },
  }
  declare id: string
  /** Trimmed, NFC, lower case. Addresses are compared in this form. */
  declare email: string
  declare name: string
  /** Null: void. The owner signs in with a mailed code and sets a new one. */
  declare passwordHash: string | null
  declare emailVerifiedAt: Date | null
  declare identityVerifiedAt: Date | null
  declare solDomain: string | null
  /** Who owned the domain on the chain when it was linked. */
  declare solDomainOwner: string | null
  declare twitterHandle: string | null
  declare discordHandle: string | null
  /** What the creator has set; see creators/settings.ts. */
  declare settings: object
  declare createdAt: Date
  /** The client network that registered the account. Null: not known. */
  declare registeredNetwork: string | null
  /** API keys made before are void, and bank accounts, devices and networks used before are not trusted. */
  declare credentialsVoidBefore: Date | null
  /** While set, nothing can be changed or withdrawn. */
  declare frozenAt: Date | null
  declare frozenReason: string | null
  /** The last time a second factor was added or removed. */
  declare factorsChangedAt: Date | null
  declare tipMails: 'off' | 'each' | 'daily'
  /** The owner closed the account: who it was is deleted (forget-account.ts). */
  declare closedAt: Date | null
  declare wallet?: Wallet

  /** Users with what their wallets say, in one statement. */
  static withWallet(db: Knex) {
    return User.query(db)
      .leftJoinRelated('wallet')
      .leftJoin('payout_wallets', 'payout_wallets.user_id', 'users.id')
      .select('users.*', 'wallet.public_key as wallet_public_key', 'payout_wallets.takes_tips')
      .castTo(UserWithWallet)
  }
}

/** What `User.withWallet` finds. */
export class UserWithWallet extends User {
  /** Null until the wallet is provisioned. */
  declare walletPublicKey: string | null
  /** New tips go to the payout wallet. Null without one. */
  declare takesTips: boolean | null
}

/** An open browser session. Its access tokens are deleted with it. */
export class Session extends BaseModel {
  static override tableName = 'sessions'
  static override idColumn = 'token_hash'
  declare tokenHash: Buffer
  /** Public: names the session in its owner's list. */
  declare id: string
  declare userId: string
  declare createdAt: Date
  declare idleUntil: Date
  declare absoluteUntil: Date
  /** Null: not known, as are the next two. */
  declare network: string | null
  declare deviceHash: Buffer | null
  declare userAgent: string | null
}

/** A text that a version of the vault's key has sealed, to recognise the key. */
export class WalletKeyCheck extends BaseModel {
  static override tableName = 'wallet_key_checks'
  static override idColumn = 'key_version'
  declare keyVersion: number
  declare wrapped: Buffer
  /** Since when no wallet may be sealed with it. Null: in use. */
  declare retiredAt: Date | null
}

/** The wallet of a creator's own that they have proven to hold: one per creator. */
export class PayoutWallet extends BaseModel {
  static override tableName = 'payout_wallets'
  static override idColumn = 'user_id'
  declare userId: string
  declare wallet: string
  declare provenAt: Date
  /** New tips go to it instead of the custody wallet. */
  declare takesTips: boolean
}
