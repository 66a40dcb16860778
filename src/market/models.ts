import type { Pojo } from 'objection'
import { displayText } from '../kernel/money.js'
import { BaseModel } from '../platform/database/base-model.js'
import { rateDecimals } from '../ports/exchange-rates.js'

/** An exchange rate that the feed gave: accepted, or held back for an operator. Intents and withdrawals refer to accepted ones. */
export class Rate extends BaseModel {
  static override tableName = 'rates'
  declare id: bigint
  declare pair: 'USD/NGN'
  /** Naira per dollar, in units of 10^-8. The column is a numeric with as many decimals. */
  declare value: bigint
  declare source: 'feed'
  declare asOf: Date
  /** Null: held back. */
  declare acceptedAt: Date | null
  /** The feed, or the operator who accepted it. */
  declare acceptedBy: string | null
  declare createdAt: Date

  override $parseDatabaseJson(row: Pojo): Pojo {
    const { value, ...others } = super.$parseDatabaseJson(row)
    return value === undefined ? others : { ...others, value: BigInt(value.replace('.', '')) }
  }

  override $formatDatabaseJson(fields: Pojo): Pojo {
    const { value, ...others } = super.$formatDatabaseJson(fields)
    return value === undefined ? others : { ...others, value: displayText(value, rateDecimals) }
  }
}
