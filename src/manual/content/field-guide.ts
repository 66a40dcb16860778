import { accountsFields } from './fields/accounts.js'
import { commonFields } from './fields/common.js'
import { creatorsFields } from './fields/creators.js'
import { cryptoTipsFields } from './fields/crypto-tips.js'
import { factorsFields } from './fields/factors.js'
import type { FieldNotes } from './fields/field-note.js'
import { moneyFields } from './fields/money.js'
import { nairaTipsFields } from './fields/naira-tips.js'
import { sdkFields } from './fields/sdk.js'

/** By resource. A key is in one of them only. */
export const fieldNotes: readonly FieldNotes[] = [
  accountsFields,
  factorsFields,
  sdkFields,
  cryptoTipsFields,
  nairaTipsFields,
  moneyFields,
  creatorsFields,
  commonFields,
]

/**
 * Keyed by a field's name, by its last parts such as `user.id` where one name has several meanings, or by `<call> > <name>`
 * (request) and `<call> < <name>` (answer) for one call. The most specific key wins.
 */
export const fieldGuide: FieldNotes = Object.assign({}, ...fieldNotes)
