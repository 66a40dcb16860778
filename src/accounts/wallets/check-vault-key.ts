import { SealBroken } from '../../kernel/aead.js'
import { ConfigError } from '../../platform/config/config.js'
import type { Vault } from '../../ports/vault.js'
import type { Services } from '../../services.js'
import { Wallet, WalletKeyCheck } from '../models.js'
import { unsealKey } from './seal-key.js'

const knownText = Buffer.from('The key that sealed the first wallet')
const context = Buffer.from('wallet-key-check/1')

type Needs = Pick<Services, 'db'> & { readonly vault: Vault }

/**
 * Throws ConfigError when the vault's key is not the one that has sealed the wallets before: wallets sealed with two keys
 * cannot be opened with either. The first use stores the check.
 */
export async function checkVaultKey(services: Needs): Promise<void> {
  const wrapped = (await findCheck(services)) ?? (await storeCheck(services))
  await refuseAnotherKey(() => services.vault.unwrap(wrapped, context, services.vault.keyVersion))
}

async function findCheck({ db, vault }: Needs): Promise<Buffer | undefined> {
  const check = await WalletKeyCheck.query(db).findById(vault.keyVersion)
  return check?.wrapped
}

/** Returns the check that is stored, which may be another process's. */
async function storeCheck(services: Needs): Promise<Buffer> {
  const { db, vault } = services
  const { keyVersion } = vault
  await openOldestWallet(services)
  const wrapped = await vault.wrap(knownText, context)
  await WalletKeyCheck.query(db).insert({ keyVersion, wrapped }).onConflict('key_version').ignore()
  return (await findCheck(services)) ?? wrapped
}

/** Wallets may be older than the check. The key must open the oldest of them. */
async function openOldestWallet({ db, vault }: Needs): Promise<void> {
  const { keyVersion } = vault
  const wallet = await Wallet.query(db).findOne({ key_version: keyVersion }).orderBy('id')
  if (wallet == null || wallet.publicKey === null || wallet.sealedSecret === null) return
  const { id: walletId, userId, publicKey, sealedSecret } = wallet
  const identity = { walletId, userId, publicKey, keyVersion }
  await refuseAnotherKey(async () => (await unsealKey(vault, sealedSecret, identity)).fill(0))
}

async function refuseAnotherKey(open: () => Promise<unknown>): Promise<void> {
  try {
    await open()
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    const message = 'is not the key that has sealed the wallets in this database; set that key again'
    throw new ConfigError([{ setting: 'WALLET_KEK', message }])
  }
}
