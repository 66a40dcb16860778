import { type ChildProcess, spawn } from 'node:child_process'
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import test from 'ava'
import { stopWithStdin } from '../../../scripts/kit/service-settings.js'
import { checkVaultKey } from '../../../src/accounts/wallets/check-vault-key.js'
import { createProvisionerBatch, walletChannel } from '../../../src/accounts/wallets/provision-wallets.js'
import { unsealKey } from '../../../src/accounts/wallets/seal-key.js'
import { SealBroken } from '../../../src/kernel/aead.js'
import { decodeBase58 } from '../../../src/kernel/base58.js'
import { createDb } from '../../../src/platform/database/database.js'
import type { Vault } from '../../../src/ports/vault.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { registerPerson, type UserBody } from '../../helpers/make/creators.js'
import { spawnOpsScript } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { assertWoken } from '../../helpers/servers/worker-loops.js'
import { runBatch, setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test)
const oneBatch = 256
/** Enough for two thousand wallets on a loaded machine. On an idle one they take two seconds. */
const manyWalletsTimeoutMs = 120_000

interface WalletRow {
  readonly id: bigint
  readonly user_id: string
  readonly public_key: string
  readonly sealed_secret: Buffer
  readonly key_version: number
  readonly due_at: Date | null
}

function configuredVault(): Vault {
  return createConfiguredVault(Buffer.from(world().env['WALLET_KEK'] ?? '', 'base64'))
}

function provisionerBatch(vault: Vault) {
  return createProvisionerBatch({ ...as('provisioner', world().services), vault })
}

async function walletOf(userId: string): Promise<WalletRow> {
  return await world().db('wallets').where({ user_id: userId }).first()
}

/** Opens a sealed secret with the identity of the wallet `owner`. */
function openAs(owner: WalletRow, sealed: Buffer): Promise<Buffer> {
  const { id: walletId, user_id: userId, public_key: publicKey, key_version: keyVersion } = owner
  return unsealKey(configuredVault(), sealed, { walletId, userId, publicKey, keyVersion })
}

/** The ed25519 public key of a seed, computed by OpenSSL (RFC 8410's PKCS #8 header). */
function publicKeyOf(seed: Buffer): Buffer {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  return key.export({ format: 'der', type: 'spki' }).subarray(-32)
}

/** Inserts users without a login. Their wallets are due. */
async function insertUsers(count: number): Promise<string[]> {
  const mark = randomBytes(6).toString('hex')
  const { rows } = await world().db.raw<{ rows: { user_id: string }[] }>(
    `with people as (
       insert into users (email, name, password_hash)
       select ? || n || '@example.com', 'Ada', 'none' from generate_series(1, ?::int) n returning id),
     named as (insert into parties (user_id) select id from people)
     insert into wallets (user_id) select id from people returning user_id`,
    [mark, count],
  )
  return rows.map(({ user_id }) => user_id)
}

test.serial('the wallet is null in the profile before a batch and present after it', async (t) => {
  const { user, session } = await registerPerson(world())
  const profile = async () =>
    (await world().request<{ user: UserBody }>('GET', '/auth/me', { session })).body.user
  t.is((await profile()).walletPublicKey, null)

  await runBatch(provisionerBatch(configuredVault()))
  const { walletPublicKey, walletAddress, onboardingComplete } = await profile()
  t.is(decodeBase58(walletPublicKey ?? '')?.length, 32)
  t.is(walletAddress, `${walletPublicKey?.slice(0, 4)}...${walletPublicKey?.slice(-4)}`)
  t.false(onboardingComplete, 'the e-mail is not verified yet')

  await setRows(world(), 'users', { id: user.id }, { email_verified_at: new Date(0) })
  const verified = await profile()
  t.true(verified.onboardingComplete)
  t.true(verified.onboarding_complete)
  t.is(verified.emailVerifiedAt, '1970-01-01T00:00:00.000Z')
})

test.serial('the sealed secret is the 64-byte Solana key of the wallet’s address', async (t) => {
  const { user } = await registerPerson(world())
  await runBatch(provisionerBatch(configuredVault()))
  const row = await walletOf(user.id)
  const secret = await openAs(row, row.sealed_secret)
  const publicKey = Buffer.from(decodeBase58(row.public_key) ?? [])
  t.is(secret.length, 64)
  t.deepEqual(secret.subarray(32), publicKey)
  t.deepEqual(publicKeyOf(secret.subarray(0, 32)), publicKey)
  t.is(row.due_at, null)
})

test.serial('secrets that are swapped between two wallets do not open', async (t) => {
  const [one, two] = await insertUsers(2)
  await runBatch(provisionerBatch(configuredVault()))
  const [ada, bob] = [await walletOf(one ?? ''), await walletOf(two ?? '')]
  await t.notThrowsAsync(openAs(ada, ada.sealed_secret))
  await t.throwsAsync(openAs(ada, bob.sealed_secret), { instanceOf: SealBroken })
  await t.throwsAsync(openAs(bob, ada.sealed_secret), { instanceOf: SealBroken })
})

test.serial('a provisioned wallet is notified on the channel of its user', async (t) => {
  const { user } = await registerPerson(world())
  const { notifications } = world().services
  let listening = false
  let notified = false
  const unlisten = notifications.listen(
    walletChannel(user.id),
    () => {
      notified = true
    },
    () => {
      listening = true
    },
  )
  t.teardown(unlisten)
  await until('the subscription is established', () => listening)
  await runBatch(provisionerBatch(configuredVault()))
  await until('the notification arrives', () => notified)
  t.pass()
})

test.serial('a batch whose lease expired does not overwrite the wallet of another batch', async (t) => {
  const [userId = ''] = await insertUsers(1)
  const vault = configuredVault()
  let release: () => void = () => undefined
  const held = new Promise<void>((done) => {
    release = done
  })
  let reached = false
  const slow: Vault = {
    ...vault,
    async wrap(dataKey, context) {
      reached = true
      await held
      return vault.wrap(dataKey, context)
    },
  }
  const stuck = provisionerBatch(slow)()
  await until('the first batch has taken the wallet', () => reached)
  t.is((await provisionerBatch(vault)()).taken, 0, 'a leased wallet is not due')

  await setRows(world(), 'wallets', { user_id: userId }, { due_at: new Date(0) })
  t.is(await runBatch(provisionerBatch(vault)), 1)
  const made = await walletOf(userId)
  release()
  await stuck
  t.deepEqual(await walletOf(userId), made)
  t.is((await world().db('parties').where({ user_id: userId }).first()).wallet, made.public_key)
})

test.serial('a wallet the vault refuses is retried later, and the others are provisioned', async (t) => {
  const users = await insertUsers(3)
  const vault = configuredVault()
  let calls = 0
  const failsOnce: Vault = {
    ...vault,
    wrap(dataKey, context) {
      calls += 1
      return calls === 2 ? Promise.reject(new Error('the vault is sealed')) : vault.wrap(dataKey, context)
    },
  }
  const { taken, nextDueMs } = await provisionerBatch(failsOnce)()
  t.is(taken, 3)
  t.is(nextDueMs, 2000)
  const rows = await world().db('wallets').whereIn('user_id', users)
  const refused = rows.filter(({ public_key }) => public_key === null)
  t.is(refused.length, 1)
  t.regex(refused[0].last_error, /the vault is sealed/)
  t.true(refused[0].due_at.getTime() > Date.now())

  await setRows(world(), 'wallets', { id: refused[0].id }, { due_at: new Date(0) })
  await runBatch(provisionerBatch(vault))
  const retried = await world().db('wallets').where({ id: refused[0].id }).first()
  t.not(retried.public_key, null)
  t.is(retried.last_error, null)
})

function startProvisioner(): ChildProcess {
  return spawn(process.execPath, ['dist/workers/main.js', 'provisioner'], {
    env: { ...process.env, ...world().env },
    stdio: 'ignore',
  })
}

test.serial('each user has one wallet after killed workers and eight concurrent batches', async (t) => {
  t.timeout(manyWalletsTimeoutMs)
  const users = await insertUsers(2000)
  const { db } = world()
  const workers = [startProvisioner(), startProvisioner()]
  const ends = workers.map((worker) => once(worker, 'exit'))
  const inSecondBatch = async () => {
    const taken = await db('wallets').whereIn('user_id', users).where('attempts', '>', 0).select('id')
    return taken.length > 2 * oneBatch
  }
  await until('one of two workers is in its second batch', inSecondBatch, manyWalletsTimeoutMs / 2)
  for (const worker of workers) worker.kill('SIGKILL')
  await Promise.all(ends)

  const early = await db('wallets').whereIn('user_id', users).whereNotNull('public_key')
  const leased = await db('wallets')
    .whereIn('user_id', users)
    .whereNull('public_key')
    .where('attempts', '>', 0)
  t.log(`${early.length} provisioned and ${leased.length} leased when the workers were killed`)
  await db('wallets')
    .whereIn('user_id', users)
    .whereNull('public_key')
    .update({ due_at: new Date(0) })

  const vault = configuredVault()
  await Promise.all(Array.from({ length: 8 }, () => runBatch(provisionerBatch(vault))))
  const rows: WalletRow[] = await db('wallets').whereIn('user_id', users)
  t.is(rows.length, users.length)
  t.is(new Set(rows.map(({ public_key }) => public_key)).size, users.length)
  t.true(rows.every(({ public_key, due_at }) => public_key !== null && due_at === null))
  for (const made of early) t.is(rows.find(({ id }) => id === made.id)?.public_key, made.public_key)
  for (const row of rows) await openAs(row, row.sealed_secret)
  const named = await db('parties as p')
    .join('wallets as w', 'w.user_id', 'p.user_id')
    .whereIn('p.user_id', users)
    .whereRaw('p.wallet = w.public_key')
    .select('p.id')
  t.is(named.length, users.length)
})

test.serial('a registration wakes the provisioner', async (t) => {
  await assertWoken(t, world().services, 'provisioner', () => registerPerson(world()))
})

/**
 * Starts the provisioner on a database of its own. Returns its exit code and what it printed. One that starts to work ends with 0,
 * because its stdin has ended.
 */
async function startWith(databaseUrl: string, kek: Buffer): Promise<{ code: number; err: string }> {
  const env = {
    ...world().env,
    DATABASE_URL: databaseUrl,
    WALLET_KEK: kek.toString('base64'),
    NODE_OPTIONS: stopWithStdin,
  }
  const { code, err } = await spawnOpsScript({ env }, 'workers/main', 'provisioner')
  return { code, err }
}

const refused = {
  code: 1,
  err: 'The settings are not usable:\n  WALLET_KEK: is not the key that has sealed the wallets in this database; set that key again\n',
}

test.serial('another WALLET_KEK than before stops the start of the provisioner', async (t) => {
  const url = await world().newDatabaseUrl()
  const [first, other] = [randomBytes(32), randomBytes(32)]
  const db = createDb(url, 1)
  t.teardown(() => db.destroy())
  // The first use stores the check, also before there is a wallet.
  await checkVaultKey({ db, vault: createConfiguredVault(first) })
  t.deepEqual(await startWith(url, other), refused)
  await t.notThrowsAsync(checkVaultKey({ db, vault: createConfiguredVault(first) }))
})

test.serial('a key that does not open the wallets from before the check is refused as well', async (t) => {
  const [userId = ''] = await insertUsers(1)
  await runBatch(provisionerBatch(configuredVault()))
  t.not((await walletOf(userId)).public_key, null)
  await world().db('wallet_key_checks').delete()
  t.deepEqual(await startWith(world().env['DATABASE_URL'] ?? '', randomBytes(32)), refused)
  t.is((await world().db('wallet_key_checks')).length, 0)
  await checkVaultKey({ db: world().db, vault: configuredVault() })
  t.is((await world().db('wallet_key_checks')).length, 1)
})
