import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import { sealKey, unsealKey, type WalletIdentity } from '../../../src/accounts/wallets/seal-key.js'
import { SealBroken } from '../../../src/kernel/aead.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'

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
