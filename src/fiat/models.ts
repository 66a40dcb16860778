import { BaseModel } from '../platform/database/base-model.js'

/** A supporter who gave an e-mail address for receipts. Never an account: the address can still register. */
export class Payer extends BaseModel {
  static override tableName = 'payers'
  declare id: bigint
  declare email: string
}
