import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { WalletKeyCheck } from '../../../../src/accounts/models.js'
import { checkKnownKeys, countSealed } from '../../../../src/accounts/wallets/check-vault-key.js'
import { composeVault } from '../../../../src/compose.js'
import { DataKeys } from '../../../../src/kernel/personal-data.js'
import type { Config } from '../../../../src/platform/config/config.js'
import { loadWalletKeys } from '../../../../src/platform/config/own-settings.js'
import { fingerprintOf, openDataKeys, readDataKeys } from '../../../../src/privacy/keys/open-data-keys.js'
import { type Check, check, type Finding, isSet } from './check.js'

const insufficientPrivilege = '42501'

/** `work`, or that the role of this process may not see what the check reads. `process`: whose may. */
async function visible(process: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work()
  } catch (error) {
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error
    return ['skipped', `this DATABASE_URL may not see it: run doctor with the one of ${process}`]
  }
}

/** Lets two people see that they have the same key. It tells nothing else about a key of 32 random bytes. */
const fingerprint = (key: Uint8Array): string =>
  createHash('sha256').update('wallet-key-fingerprint/1').update(key).digest('hex').slice(0, 12)

/** Whether WALLET_KEK is what has sealed the wallets. Only the roles that use it see the tables that tell. */
export function checkWalletKeys(db: Knex): Promise<readonly Check[]> {
  return check('wallet key', async () => {
    if (!isSet('WALLET_KEK'))
      return ['skipped', 'WALLET_KEK is not set here; only the provisioner and the custodian have it']
    const keys = [...loadWalletKeys()].map(([version, key]) => `version ${version} (${fingerprint(key)})`)
    return visible('the provisioner', async () => {
      await checkKnownKeys({ db, vault: composeVault() })
      const wallets = [...(await countSealed(db)).values()].reduce((sum, count) => sum + count, 0)
      const retired = (await WalletKeyCheck.query(db).whereNotNull('retired_at')).map((one) => one.keyVersion)
      const old = [...loadWalletKeys().keys()].filter((version) => retired.includes(version))
      if (old.length > 0)
        return ['warning', `version ${old.join(', ')} is out of use: take it out of WALLET_KEK`]
      return ['ok', `${keys.join(', ')}; ${wallets} wallets are sealed`]
    })
  })
}

/** Whether DATA_KEY is what has sealed the personal data, and whether a second value may go. */
export function checkDataKeys(db: Knex, config: Config): Promise<readonly Check[]> {
  return check('data key', async () => {
    if (!isSet('DATA_KEY') && !isSet('OTP_PEPPER')) return ['skipped', 'DATA_KEY is not set here']
    // Of its own: nothing here may seal.
    const { given } = new DataKeys(config.dataKeys.given)
    return visible('web', async () => {
      await openDataKeys(db, new DataKeys(given), false)
      const rows = await readDataKeys(db)
      if (rows.length === 0) return ['ok', 'no process of this release has run yet; what is sealed opens']
      const isRetired = (key: Buffer): boolean =>
        rows.some((row) => row.retiredAt !== null && row.fingerprint.equals(fingerprintOf(key)))
      if (given.some(isRetired))
        return [
          'warning',
          'the second value is out of use, and nothing needs it: set DATA_KEY to the first alone',
        ]
      if (given.length > 1)
        return ['warning', 'has two values: once every process seals with the new one, run rotate-data-key']
      return ['ok', `version ${rows.at(-1)?.version}`]
    })
  })
}

/** Codes do not say which pepper has made them, so only their life does. */
export function checkPeppers(config: Config): readonly Check[] {
  if (!isSet('OTP_PEPPER') || config.otpPeppers.length === 1) return []
  const text = 'has two values: 15 minutes after every process has this list, set the first alone'
  return [{ name: 'OTP_PEPPER', state: 'warning', text }]
}
