import { BaseModel } from '../platform/database/base-model.js'

/** A key of a creator's backend. The database stores its hash. */
export class ApiKey extends BaseModel {
  static override tableName = 'api_keys'
  declare id: string
  declare userId: string
  /** Public: identifies the key in lists. */
  declare prefix: string
  declare keyHash: Buffer
  declare label: string | null
  declare createdAt: Date
  declare lastUsedAt: Date | null
  declare revokedAt: Date | null
}

/** A site on which a creator's embeds may appear. */
export class Site extends BaseModel {
  static override tableName = 'creator_domains'
  static override idColumn = ['user_id', 'domain']
  declare userId: string
  /** In the form of `parseSite`. */
  declare domain: string
  declare position: number
}
