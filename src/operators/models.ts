import { BaseModel } from '../platform/database/base-model.js'

/** An action of an operator. Rows are only added. */
export class AuditEntry extends BaseModel {
  static override tableName = 'audit_log'
  static override jsonAttributes = ['details']
  declare id: bigint
  declare at: Date
  declare actor: string
  /** The command, such as `payouts replay`. */
  declare action: string
  /** What was changed, such as `user:<id>`. */
  declare subject: string
  declare details: Readonly<Record<string, unknown>>
}
