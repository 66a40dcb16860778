import { randomBytes, randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import test from 'ava'
import { stopWithStdin } from '../../../scripts/kit/service-settings.js'
import { addressOf } from '../../../src/accounts/wallets/key-pair.js'
import { createProvisionerBatch } from '../../../src/accounts/wallets/provision-wallets.js'
import { retireOlderKeys, rotateBatch } from '../../../src/accounts/wallets/rotate-wallet-key.js'
import { sealKey, unsealKey, type WalletIdentity } from '../../../src/accounts/wallets/seal-key.js'
import { SealBroken } from '../../../src/kernel/aead.js'
import type { Vault } from '../../../src/ports/vault.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { runOpsScript, spawnOpsScript } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { runBatch, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test)
const command = 'rotate-wallet-key'
const failPoints = resolve('dist/scripts/kit/fail-points.js')
const old = randomBytes(32)
const fresh = randomBytes(32)
const oldVault = createConfiguredVault(old)
const newVault = createConfiguredVault(new Map([[2, fresh]]))
const both = createConfiguredVault(
  new Map([
    [1, old],
    [2, fresh],
  ]),
)
const text = (key: Buffer): string => key.toString('base64')
const bothKeys = `2:${text(fresh)},1:${text(old)}`

const withKeys = (keys: string, more: Record<string, string> = {}) => ({
  env: { ...world().env, WALLET_KEK: keys, ...more },
})
const rotate = (keys: string, ...args: string[]) => runOpsScript(withKeys(keys), command, ...args)

/** Accounts without a login, whose wallets are due. */
async function insertAccounts(count: number): Promise<void> {
  await world().db.raw(
    `with people as (
       insert into users (email, name, password_hash)
       select ? || n || '@example.com', 'Ada', 'none' from generate_series(1, ?::int) n returning id),
     named as (insert into parties (user_id) select id from people)
     insert into wallets (user_id) select id from people`,
    [randomBytes(6).toString('hex'), count],
  )
}

const provision = (vault: Vault) =>
  runBatch(createProvisionerBatch({ ...as('provisioner', world().services), vault }))

async function countByVersion(): Promise<Record<string, number>> {
  const rows = await world()
    .db('wallets')
    .whereNotNull('key_version')
    .select('key_version')
    .count('* as n')
    .groupBy('key_version')
  return Object.fromEntries(rows.map(({ key_version: version, n }) => [String(version), Number(n)]))
}

/** Opens every wallet with the key of its version, and compares what is in it with the address. */
async function countOpened(vault: Vault): Promise<number> {
  const rows = await world().db('wallets').whereNotNull('public_key')
  for (const row of rows) {
    const { id: walletId, user_id: userId, public_key: publicKey, key_version: keyVersion } = row
    const secret = await unsealKey(vault, row.sealed_secret, { walletId, userId, publicKey, keyVersion })
    if (addressOf(secret) !== publicKey) throw new Error(`wallet ${walletId} holds another key`)
  }
  return rows.length
}

/** Starts the provisioner with these keys. One that starts to work ends with 0, because its stdin has ended. */
const startProvisioner = (keys: string) =>
  spawnOpsScript(withKeys(keys, { NODE_OPTIONS: stopWithStdin }), 'workers/main', 'provisioner')

test.serial('the plan counts the wallets by version, changes nothing and refuses wrong keys', async (t) => {
  await insertAccounts(450)
  await provision(oldVault)
  const one = await rotate(text(old), '--json')
  t.like(JSON.parse(one.out), { ok: true, newest: 1, wallets: { 1: 450 } })
  const plan = await rotate(bothKeys)
  t.is(plan.code, 0, plan.err)
  t.regex(plan.out, /version 1: 450 wallets\n450 wallets would be sealed again with version 2; add --apply/)
  t.is((await world().db('wallet_key_checks')).length, 0)
  t.deepEqual(await countByVersion(), { 1: 450 })

  for (const apply of [[], ['--apply']]) {
    const wrong = await rotate(`2:${text(fresh)},1:${text(randomBytes(32))}`, ...apply)
    t.is(wrong.code, 1)
    t.regex(wrong.err, /WALLET_KEK: version 1 is not the key that has sealed the wallets in this database/)
    const lacking = await rotate(`2:${text(fresh)}`, ...apply)
    t.is(lacking.code, 1)
    t.regex(
      lacking.err,
      /WALLET_KEK: lacks the key of version 1, which has sealed 450 wallets; add it to the list, such as 1:</,
    )
  }
  t.deepEqual(await countByVersion(), { 1: 450 })
})

test.serial('a rotation killed half-way leaves every wallet open, and another one goes on', async (t) => {
  const failing = { NODE_OPTIONS: `--import ${failPoints}`, FAIL_AT: 'after wallets.rotate' }
  const killed = await spawnOpsScript(withKeys(bothKeys, failing), command, '--apply')
  t.is(killed.code, -1, killed.err)
  t.deepEqual(await countByVersion(), { 1: 250, 2: 200 })
  t.is(await countOpened(both), 450)
  // Both may be in use for as long as it takes, and the check of the new key stands from now on.
  t.is((await startProvisioner(bothKeys)).code, 0)
  const another = await rotate(`2:${text(randomBytes(32))},1:${text(old)}`, '--apply')
  t.regex(another.err, /version 2 is not the key that has sealed the wallets/)
  const missing = await startProvisioner(`2:${text(fresh)}`)
  t.is(missing.code, 1)
  t.regex(missing.err, /WALLET_KEK: lacks the key of version 1/)

  // One that holds the secret of another wallet is named and stays, and the old key stays with it.
  const [broken, other] = await world().db('wallets').where({ key_version: 1 }).orderBy('id').limit(2)
  const seal = (sealed: Buffer) =>
    world().db('wallets').where({ id: broken.id }).update({ sealed_secret: sealed })
  await seal(other.sealed_secret)
  const partly = await rotate(bothKeys, '--apply')
  t.is(partly.code, 4, partly.err)
  t.true(
    partly.out.includes(`1 wallets do not open, or hold the key of another wallet: ${broken.public_key}`),
  )
  t.deepEqual(await countByVersion(), { 1: 1, 2: 449 })
  await seal(broken.sealed_secret)
})

test.serial('two rotations and a provisioner with the old key at once leave none behind', async (t) => {
  await insertAccounts(600)
  const runs = [1, 2].map(() => spawnOpsScript(withKeys(bothKeys), command, '--apply'))
  // On a slow machine the old key is retired before it has sealed all of them.
  const late = await provision(oldVault).then(() => undefined, String)
  if (late !== undefined) t.regex(late, /version 1 of the wallet key is out of use/)
  // Whichever ends first retires the old key. What the old provisioner could not store is stored by the new one.
  const last = await rotate(bothKeys, '--apply')
  for (const { code, err } of [...(await Promise.all(runs)), last]) t.is(code, 0, err)
  t.regex(last.out, /no wallet uses version 1 any more: the old key may be taken out of the settings/)
  await world()
    .db('wallets')
    .whereNull('public_key')
    .update({ due_at: new Date(0) })
  await provision(newVault)
  t.deepEqual(await countByVersion(), { 2: 1050 })
  t.is(await countOpened(newVault), 1050)
  const entries = await world().db('audit_log').where({ action: 'rotate-wallet-key' })
  t.is(entries.length, 1)
  t.like(entries[0], { subject: 'wallet-key:2', details: { retired: [1] } })
})

test.serial('after the rotation the database refuses wallets sealed with the old key', async (t) => {
  await insertAccounts(1)
  await t.throwsAsync(provision(oldVault), { message: /version 1 of the wallet key is out of use/ })
  const late = await startProvisioner(text(old))
  t.is(late.code, 1)
  t.regex(late.err, /WALLET_KEK: lacks the key of version 2/)
  t.is((await startProvisioner(`2:${text(fresh)}`)).code, 0)
  t.is((await rotate(`2:${text(fresh)}`, '--apply')).code, 0)
})

test.serial('an old key is not retired while a wallet is being stored with it', async (t) => {
  const { db } = world()
  await db('wallet_key_checks').where({ key_version: 1 }).update({ retired_at: null })
  await world()
    .db('wallets')
    .whereNull('public_key')
    .update({ due_at: new Date(0) })
  const [due] = await db('wallets').whereNull('public_key')
  const storing = await db.transaction()
  const stored = { public_key: '1'.repeat(44), sealed_secret: Buffer.alloc(1), key_version: 1 }
  await storing('wallets').where({ id: due.id }).update(stored)
  t.like(await rotateBatch({ db, vault: both }, 0n), { last: undefined, wallets: 0 })
  const retired = db.transaction((trx) => retireOlderKeys(trx, 2))
  await until('the retirement waits for the lock', async () => {
    const { rows } = await db.raw(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  await storing.commit()
  t.is(await retired, undefined)
  t.is((await db('wallet_key_checks').where({ key_version: 1 }).first()).retired_at, null)
})

const vault = createConfiguredVault(randomBytes(32))

function identity(changes: Partial<WalletIdentity> = {}): WalletIdentity {
  return {
    walletId: 7n,
    userId: randomUUID(),
    publicKey: 'So11111111111111111111111111111111111111112',
    keyVersion: vault.keyVersion,
    ...changes,
  }
}

test('a sealed secret opens for its wallet, and the sealed bytes do not contain it', async (t) => {
  const secret = randomBytes(64)
  const wallet = identity()
  const sealed = await sealKey(vault, secret, wallet)
  t.deepEqual(await unsealKey(vault, sealed, wallet), secret)
  t.false(sealed.includes(secret.subarray(0, 8)))
  t.is(sealed[0], 1, 'the format comes first')
})

test('a sealed secret does not open for another identity', async (t) => {
  const wallet = identity()
  const sealed = await sealKey(vault, randomBytes(64), wallet)
  const others: Partial<WalletIdentity>[] = [
    { walletId: 8n },
    { userId: randomUUID() },
    { publicKey: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
    { keyVersion: 2 },
  ]
  for (const other of others)
    await t.throwsAsync(unsealKey(vault, sealed, { ...wallet, ...other }), { instanceOf: SealBroken })
})

test('a sealed secret with one changed bit or one extra byte throws SealBroken', async (t) => {
  const wallet = identity()
  const sealed = await sealKey(vault, randomBytes(64), wallet)
  for (let at = 0; at < sealed.length; at++) {
    const garbled = Buffer.from(sealed)
    garbled.writeUInt8(sealed.readUInt8(at) ^ (1 << (at % 8)), at)
    await t.throwsAsync(unsealKey(vault, garbled, wallet), { instanceOf: SealBroken }, `byte ${at}`)
  }
  const longer = Buffer.concat([sealed, Buffer.alloc(1)])
  await t.throwsAsync(unsealKey(vault, longer, wallet), { instanceOf: SealBroken })
})

test('a key-encryption key of the wrong size is refused', (t) => {
  t.throws(() => createConfiguredVault(randomBytes(16)), { message: /32 bytes, not 16/ })
})

test('a vault seals with its newest key and opens with each of them', async (t) => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)]
  const before = createConfiguredVault(old)
  const both = createConfiguredVault(
    new Map([
      [1, old],
      [2, fresh],
    ]),
  )
  t.deepEqual([both.keyVersion, both.keyVersions], [2, [2, 1]])
  const [secret, wallet] = [randomBytes(64), identity({ keyVersion: 1 })]
  t.deepEqual(await unsealKey(both, await sealKey(before, secret, wallet), wallet), secret)
  const newer = { ...wallet, keyVersion: 2 }
  const sealed = await sealKey(both, secret, newer)
  t.deepEqual(await unsealKey(both, sealed, newer), secret)
  await t.throwsAsync(unsealKey(before, sealed, newer), { instanceOf: SealBroken })
})
