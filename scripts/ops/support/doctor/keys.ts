import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { checkKnownKeys, countSealed } from '../../../../src/accounts/wallets/check-vault-key.js'
import { composeVault } from '../../../../src/compose.js'
import { loadWalletKeys } from '../../../../src/platform/config/own-settings.js'
import { type Check, check } from './check.js'

const insufficientPrivilege = '42501'

/** Lets two people see that they have the same key. It tells nothing else about a key of 32 random bytes. */
const fingerprint = (key: Uint8Array): string =>
  createHash('sha256').update('wallet-key-fingerprint/1').update(key).digest('hex').slice(0, 12)

/** Whether WALLET_KEK is what has sealed the wallets. Only the roles that use it see the tables that tell. */
export function checkWalletKeys(db: Knex): Promise<readonly Check[]> {
  return check('wallet key', async () => {
    if (!process.env['WALLET_KEK']?.trim())
      return ['skipped', 'WALLET_KEK is not set here; only the provisioner and the custodian have it']
    const keys = [...loadWalletKeys()].map(([version, key]) => `version ${version} (${fingerprint(key)})`)
    try {
      await checkKnownKeys({ db, vault: composeVault() })
      const wallets = [...(await countSealed(db)).values()].reduce((sum, count) => sum + count, 0)
      return ['ok', `${keys.join(', ')}; ${wallets} wallets are sealed`]
    } catch (error) {
      if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error
      return ['skipped', 'this DATABASE_URL may not see it: run doctor with the one of the provisioner']
    }
  })
}
