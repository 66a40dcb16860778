import { createPrivateKey, createPublicKey } from 'node:crypto'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { Refusal } from '../../scripts/bootstrap/progress.mjs'
import { loadOrCreateSecrets } from '../../scripts/dev/secrets.js'
import { decodeBase58 } from '../../src/kernel/base58.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

const pkcs8Ed25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

test('the secrets of a stack are created once, in files that only their owner can read', (t) => {
  const folder = temporaryFolder(t)
  const made = loadOrCreateSecrets(folder)
  t.is(Buffer.from(made.walletKek, 'base64').length, 32)
  t.not(made.walletKek, made.otpPepper)
  t.regex(made.fiatpayKey, /^sk_test_[0-9a-f]{64}$/)
  t.not(made.payoutKey, made.fiatpayKey)
  t.deepEqual(loadOrCreateSecrets(folder), made)
  for (const name of ['secrets.json', 'fiatpay-key.json', 'payout-key.json', 'treasury.json'])
    t.is(statSync(join(folder, name)).mode & 0o777, 0o600, name)
})

test("the treasury's file is a Solana key pair of the treasury wallet", (t) => {
  const folder = temporaryFolder(t)
  const { treasuryWallet } = loadOrCreateSecrets(folder)
  const bytes = Buffer.from(JSON.parse(readFileSync(join(folder, 'treasury.json'), 'utf8')) as number[])
  const seed = Buffer.concat([pkcs8Ed25519, bytes.subarray(0, 32)])
  const { x = '' } = createPublicKey(createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  })
  t.deepEqual(decodeBase58(treasuryWallet), new Uint8Array(Buffer.from(x, 'base64url')))
})

test('damaged secrets stop the start and are not replaced, since sealed wallets would be lost', (t) => {
  const folder = temporaryFolder(t)
  loadOrCreateSecrets(folder)
  const file = join(folder, 'secrets.json')
  chmodSync(file, 0o600)
  writeFileSync(file, '{"walletKek":')
  t.throws(() => loadOrCreateSecrets(folder), { instanceOf: Refusal, message: /secrets\.json is damaged/ })
  t.is(readFileSync(file, 'utf8'), '{"walletKek":')
})
