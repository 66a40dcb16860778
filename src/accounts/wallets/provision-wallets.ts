import { query } from '../../platform/database/database.js'
import { type DueRows, finishRows, takeDueRows } from '../../platform/database/due-rows.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Vault } from '../../ports/vault.js'
import type { Services } from '../../services.js'
import { newKeyPair } from './key-pair.js'
import { sealKey } from './seal-key.js'

const walletQueue: DueRows = {
  name: 'wallets',
  table: 'wallets',
  id: 'bigint',
  batchSize: 256,
  leaseSeconds: 30,
  columns: 't.id, t.user_id as "userId", t.attempts',
  onFinish: { columns: { error: 'text' }, set: 'last_error = s.error' },
}
/** A wallet whose key the vault did not seal waits 2 s, 4 s, 8 s ... and at most this long. */
const longestPauseSeconds = 60
const lastErrorLength = 200

type Needs = Pick<Services, 'db' | 'transact' | 'log'> & { readonly vault: Vault }

interface DueWallet {
  readonly id: bigint
  readonly userId: string
  readonly attempts: number
}

interface SealedWallet extends DueWallet {
  readonly publicKey: string
  readonly sealedSecret: Buffer
  readonly keyVersion: number
}

interface FailedWallet extends DueWallet {
  readonly error: string
}

/** The channel of the notification that a user's wallet is provisioned. */
export const walletChannel = (userId: string): string => `wallets.${userId}`

/**
 * Provisions due wallets: creates a key pair, seals the secret, and stores public key and sealed secret in one commit.
 * A public key is never visible before its secret is stored. Any number of workers may run: the fence on `attempts`
 * lets each wallet get one key only.
 */
export function createProvisionerBatch(services: Needs): Batch {
  return async () => {
    const due = await takeDueRows<DueWallet>(services.db, walletQueue)
    if (due.length === 0) return { taken: 0 }
    const results = await Promise.all(due.map((wallet) => createKey(services.vault, wallet)))
    const sealed = results.filter((result) => 'publicKey' in result)
    const failed = results.filter((result) => 'error' in result)
    if (sealed.length > 0) await finishWallets(services, sealed)
    if (failed.length === 0) return { taken: due.length }
    return { taken: due.length, nextDueMs: await scheduleRetries(services, failed) }
  }
}

async function createKey(vault: Vault, wallet: DueWallet): Promise<SealedWallet | FailedWallet> {
  const { publicKey, secret } = newKeyPair()
  const { keyVersion } = vault
  try {
    const identity = { walletId: wallet.id, userId: wallet.userId, publicKey, keyVersion }
    return { ...wallet, publicKey, keyVersion, sealedSecret: await sealKey(vault, secret, identity) }
  } catch (error) {
    return { ...wallet, error: String(error).slice(0, lastErrorLength) }
  } finally {
    secret.fill(0)
  }
}

/** Stores the keys of a batch, and has the wallets watched from now on. Fenced on `attempts`: a row that another batch has taken since is left unchanged. */
async function finishWallets({ transact }: Needs, sealed: readonly SealedWallet[]): Promise<void> {
  await transact(async ({ trx, publish }) => {
    const finished = await query<{ userId: string }>(trx, {
      name: 'wallets.provision',
      text: /* sql */ `
        with sealed as (
          select * from unnest($1::bigint[], $2::int[], $3::text[], $4::bytea[], $5::int[])
            as s (id, attempts, public_key, sealed_secret, key_version)),
        finished as (
          update wallets w
             set public_key = s.public_key, sealed_secret = s.sealed_secret, key_version = s.key_version,
                 due_at = null, last_error = null
            from sealed s where w.id = s.id and w.attempts = s.attempts and w.public_key is null
          returning w.id, w.user_id, w.public_key),
        watched as (insert into wallet_watches (id) select id from finished),
        parties_updated as (
          update parties p set wallet = f.public_key from finished f where p.user_id = f.user_id)
        select user_id as "userId" from finished`,
      values: [
        sealed.map(({ id }) => id),
        sealed.map(({ attempts }) => attempts),
        sealed.map(({ publicKey }) => publicKey),
        sealed.map(({ sealedSecret }) => sealedSecret),
        sealed.map(({ keyVersion }) => keyVersion),
      ],
    })
    for (const { userId } of finished) publish(walletChannel(userId))
  })
}

/** Makes the failed wallets due again later. Returns the ms until the first of them is due. */
async function scheduleRetries({ db, log }: Needs, failed: readonly FailedWallet[]): Promise<number> {
  log.error({ wallets: failed.length, error: failed[0]?.error }, 'the vault did not seal the keys of wallets')
  const retries = failed.map(({ id, attempts, error }) => {
    return { id, attempts, error, dueInMs: 1000 * Math.min(2 ** attempts, longestPauseSeconds) }
  })
  await finishRows(db, walletQueue, retries)
  return Math.min(...retries.map(({ dueInMs }) => dueInMs))
}
