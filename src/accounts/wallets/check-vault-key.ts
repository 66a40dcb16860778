import { SealBroken } from '../../kernel/aead.js'
import { ConfigError } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { Vault } from '../../ports/vault.js'
import type { Services } from '../../services.js'
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
  const [row] = await query<{ wrapped: Buffer }>(db, {
    name: 'wallets.find-key-check',
    text: 'select wrapped from wallet_key_checks where key_version = $1',
    values: [vault.keyVersion],
  })
  return row?.wrapped
}

/** Returns the check that is stored, which may be another process's. */
async function storeCheck(services: Needs): Promise<Buffer> {
  const { db, vault } = services
  await openOldestWallet(services)
  const wrapped = await vault.wrap(knownText, context)
  await query(db, {
    name: 'wallets.store-key-check',
    text: 'insert into wallet_key_checks (key_version, wrapped) values ($1, $2) on conflict do nothing',
    values: [vault.keyVersion, wrapped],
  })
  return (await findCheck(services)) ?? wrapped
}

/** Wallets may be older than the check. The key must open the oldest of them. */
async function openOldestWallet({ db, vault }: Needs): Promise<void> {
  const { keyVersion } = vault
  const [wallet] = await query<{ id: bigint; userId: string; publicKey: string; sealed: Buffer }>(db, {
    name: 'wallets.find-sealed',
    text: /* sql */ `
      select id, user_id as "userId", public_key as "publicKey", sealed_secret as sealed from wallets
      where sealed_secret is not null and key_version = $1 order by id limit 1`,
    values: [keyVersion],
  })
  if (wallet === undefined) return
  const { id: walletId, userId, publicKey, sealed } = wallet
  const identity = { walletId, userId, publicKey, keyVersion }
  await refuseAnotherKey(async () => (await unsealKey(vault, sealed, identity)).fill(0))
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
