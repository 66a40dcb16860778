import { command as roles } from './keys/database-roles.js'
import { command as rotateData } from './keys/rotate-data-key.js'
import { command as rotateWallet } from './keys/rotate-wallet-key.js'
import { defineSubject } from './support/command.js'

/** Prints the database roles, and seals data and wallets again under new keys. */
const usage =
  'npm run ops -- keys <verb>: prints the database roles, and seals data and wallets again under new keys'

export const command = await defineSubject(import.meta, usage, {
  roles,
  'rotate-data': rotateData,
  'rotate-wallet': rotateWallet,
})
