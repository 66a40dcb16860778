import type { Knex } from 'knex'
import { SealBroken } from '../../kernel/aead.js'
import { query, write } from '../../platform/database/database.js'
import type { Vault } from '../../ports/vault.js'
import { countSealed } from './check-vault-key.js'
import { addressOf } from './key-pair.js'
import { sealKey, unsealKey, type WalletIdentity } from './seal-key.js'

interface Needs {
  readonly db: Knex
  readonly vault: Vault
}

const batchSize = 200

interface SealedWallet {
  readonly id: bigint
  readonly userId: string
  readonly publicKey: string
  readonly sealedSecret: Buffer
  readonly keyVersion: number
}

interface ResealedWallet extends SealedWallet {
  readonly resealed: Buffer
}

/** What one batch did. `last`: the highest id that it read; undefined when there was nothing left to read. */
export interface Rotated {
  readonly last: bigint | undefined
  readonly wallets: number
  /** Wallets whose secret does not open or is another wallet's. They stay as they are. */
  readonly broken: readonly string[]
}

/**
 * Seals the next wallets after this id under the vault's newest key. Each new seal is opened again, and the address of what is
 * in it compared with the wallet's, before it is stored. A wallet whose seal somebody else has changed meanwhile is left alone,
 * so any number of runs may work side by side, and each may be killed.
 */
export async function rotateBatch({ db, vault }: Needs, after: bigint): Promise<Rotated> {
  const wallets = await readOlder(db, vault.keyVersion, after)
  const results = await Promise.all(wallets.map((wallet) => reseal(vault, wallet)))
  const resealed = results.filter((result) => typeof result !== 'string')
  const broken = results.filter((result) => typeof result === 'string')
  const stored = resealed.length === 0 ? 0 : await storeResealed(db, vault.keyVersion, resealed)
  return { last: wallets.at(-1)?.id, wallets: stored, broken }
}

function readOlder(db: Knex, newest: number, after: bigint): Promise<SealedWallet[]> {
  return query(db, {
    name: 'wallets.older-key',
    text: /* sql */ `
      select id, user_id as "userId", public_key as "publicKey", sealed_secret as "sealedSecret", key_version as "keyVersion"
        from wallets where key_version < $1 and id > $2 order by id limit $3`,
    values: [newest, after, batchSize],
  })
}

/** Returns the address of a wallet that cannot be sealed again. */
async function reseal(vault: Vault, wallet: SealedWallet): Promise<ResealedWallet | string> {
  const { id: walletId, userId, publicKey } = wallet
  const before: WalletIdentity = { walletId, userId, publicKey, keyVersion: wallet.keyVersion }
  const after: WalletIdentity = { ...before, keyVersion: vault.keyVersion }
  const secret = await openFor(vault, wallet.sealedSecret, before)
  if (secret === undefined) return publicKey
  try {
    const resealed = await sealKey(vault, secret, after)
    const again = await openFor(vault, resealed, after)
    again?.fill(0)
    return again === undefined ? publicKey : { ...wallet, resealed }
  } finally {
    secret.fill(0)
  }
}

/** The secret; undefined when it does not open, or is not this wallet's. */
async function openFor(
  vault: Vault,
  sealed: Uint8Array,
  identity: WalletIdentity,
): Promise<Buffer | undefined> {
  try {
    const secret = await unsealKey(vault, sealed, identity)
    if (addressOf(secret) === identity.publicKey) return secret
    secret.fill(0)
    return undefined
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}

/** Locks in the order of ids, so that two runs never wait for each other. Returns how many were changed. */
async function storeResealed(db: Knex, newest: number, resealed: readonly ResealedWallet[]): Promise<number> {
  const changed = await query(db, {
    name: 'wallets.rotate',
    text: /* sql */ `
      with resealed as (
        select * from unnest($1::bigint[], $2::bytea[], $3::bytea[]) as r (id, before, after)
      ), locked as materialized (
        select w.id, r.after from wallets w join resealed r on r.id = w.id and r.before = w.sealed_secret
         order by w.id for update of w)
      update wallets w set sealed_secret = l.after, key_version = $4 from locked l where w.id = l.id returning 1`,
    values: [
      resealed.map(({ id }) => id),
      resealed.map(({ sealedSecret }) => sealedSecret),
      resealed.map((wallet) => wallet.resealed),
      newest,
    ],
  })
  return changed.length
}

/**
 * Takes the older versions out of use, unless a wallet still has one: from then on the database refuses wallets that are sealed
 * with them. The lock waits for wallets that are being stored. Returns the versions that were retired now; undefined while
 * wallets use one.
 */
export async function retireOlderKeys(
  trx: Knex.Transaction,
  newest: number,
): Promise<readonly number[] | undefined> {
  const older = await query<{ version: number; retired: boolean }>(trx, {
    name: 'wallet-keys.lock-older',
    text: /* sql */ `
      select key_version as version, retired_at is not null as retired
        from wallet_key_checks where key_version < $1 order by key_version for update`,
    values: [newest],
  })
  const used = [...(await countSealed(trx)).keys()]
  if (used.some((version) => version < newest)) return undefined
  const retired = older.filter((one) => !one.retired).map(({ version }) => version)
  await write(trx, {
    name: 'wallet-keys.retire',
    text: 'update wallet_key_checks set retired_at = clock_timestamp() where key_version = any($1::int[])',
    values: [retired],
  })
  return retired
}
