import { command as close } from './accounts/close-account.js'
import { command as forgetPayer } from './accounts/forget-payer.js'
import { command as freeze } from './accounts/freeze-account.js'
import { command as link } from './accounts/link-handle.js'
import { command as removeFactors } from './accounts/remove-factors.js'
import { command as unfreeze } from './accounts/unfreeze.js'
import { command as verify } from './accounts/verify-identity.js'
import { defineSubject } from './support/command.js'

/** Acts for and against owners of accounts: freezing, identity, second factors, handles, closing; erases payers. */
const usage = 'npm run ops -- accounts <verb>: acts for and against owners of accounts, and erases payers'

export const command = await defineSubject(import.meta, usage, {
  freeze,
  unfreeze,
  verify,
  'remove-factors': removeFactors,
  link,
  close,
  'forget-payer': forgetPayer,
})
