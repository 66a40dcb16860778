import type { Knex } from 'knex'
import { SealBroken } from '../../kernel/aead.js'
import { ConfigError } from '../../platform/config/read-settings.js'
import { query } from '../../platform/database/database.js'
import type { Vault } from '../../ports/vault.js'
import { Wallet, WalletKeyCheck } from '../models.js'
import { unsealKey } from './seal-key.js'

const knownText = Buffer.from('The key that sealed the first wallet')
const context = Buffer.from('wallet-key-check/1')

interface Needs {
  readonly db: Knex
  readonly vault: Vault
}

/** How many wallets each version of the key has sealed, newest first. */
export async function countSealed(db: Knex): Promise<ReadonlyMap<number, number>> {
  const rows = await query<{ version: number; wallets: number }>(db, {
    name: 'wallets.by-key',
    text: /* sql */ `
      select key_version as version, count(*)::int as wallets
        from wallets where key_version is not null group by 1 order by 1 desc`,
    values: [],
  })
  return new Map(rows.map(({ version, wallets }) => [version, wallets]))
}

/**
 * Throws ConfigError unless the vault has every key that has sealed wallets, and each is the one that did: wallets sealed with
 * two keys of one version cannot be opened with either. Stores nothing.
 */
export async function checkKnownKeys(services: Needs): Promise<void> {
  const { db, vault } = services
  await refuseMissing(services)
  for (const keyVersion of vault.keyVersions) {
    const check = await WalletKeyCheck.query(db).findById(keyVersion)
    if (check?.retiredAt != null && keyVersion === vault.keyVersion)
      throw refusal(
        `version ${keyVersion} was taken out of use by rotate-wallet-key and seals nothing any more; set the newer key too`,
      )
    if (check === undefined) await openOldestWallet(services, keyVersion)
    else await refuseAnotherKey(services, keyVersion, () => vault.unwrap(check.wrapped, context, keyVersion))
  }
}

/** Also stores the check of each key at its first use: the first of two processes with different keys wins. */
export async function checkVaultKey(services: Needs): Promise<void> {
  await checkKnownKeys(services)
  const { db, vault } = services
  const known = new Set((await WalletKeyCheck.query(db)).map(({ keyVersion }) => keyVersion))
  const missing = vault.keyVersions.filter((version) => !known.has(version))
  for (const keyVersion of missing) {
    const wrapped = await vault.wrap(knownText, context, keyVersion)
    await WalletKeyCheck.query(db).insert({ keyVersion, wrapped }).onConflict('key_version').ignore()
  }
  if (missing.length > 0) await checkKnownKeys(services)
}

async function refuseMissing({ db, vault }: Needs): Promise<void> {
  const missing = [...(await countSealed(db))].filter(([version]) => !vault.keyVersions.includes(version))
  if (missing.length === 0) return
  const what = missing.map(([version, wallets]) => `version ${version}, which has sealed ${wallets} wallets`)
  const [[version] = [0]] = missing
  throw refusal(
    `lacks the key of ${what.join(', and of ')}; add it to the list, such as ${version}:<its base64>, and leave it there until ` +
      'rotate-wallet-key says that it may go',
  )
}

/** Wallets may be older than the check. The key must open the oldest of its version. */
async function openOldestWallet(services: Needs, keyVersion: number): Promise<void> {
  const { db, vault } = services
  const wallet = await Wallet.query(db).findOne({ key_version: keyVersion }).orderBy('id')
  if (wallet == null || wallet.publicKey === null || wallet.sealedSecret === null) return
  const { id: walletId, userId, publicKey, sealedSecret } = wallet
  const identity = { walletId, userId, publicKey, keyVersion }
  await refuseAnotherKey(services, keyVersion, async () =>
    (await unsealKey(vault, sealedSecret, identity)).fill(0),
  )
}

async function refuseAnotherKey(
  { vault }: Needs,
  keyVersion: number,
  open: () => Promise<unknown>,
): Promise<void> {
  try {
    await open()
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    const version = vault.keyVersions.length === 1 ? '' : `version ${keyVersion} `
    throw refusal(`${version}is not the key that has sealed the wallets in this database; set that key again`)
  }
}

function refusal(message: string): ConfigError {
  return new ConfigError([{ setting: 'WALLET_KEK', message }])
}
