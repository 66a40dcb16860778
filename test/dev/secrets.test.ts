import { createPrivateKey, createPublicKey } from 'node:crypto'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { Refusal } from '../../scripts/bootstrap/progress.mjs'
import { stackSecrets } from '../../scripts/dev/secrets.js'
import { decodeBase58 } from '../../src/kernel/base58.js'
import { temporaryFolder } from '../helpers/temporary.js'

const pkcs8Ed25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

test('the secrets of a stack are made once, for their owner alone', (t) => {
  const folder = temporaryFolder(t)
  const made = stackSecrets(folder)
  t.is(Buffer.from(made.walletKek, 'base64').length, 32)
  t.not(made.walletKek, made.otpPepper)
  t.regex(made.fiatpayKey, /^sk_test_[0-9a-f]{64}$/)
  t.deepEqual(stackSecrets(folder), made)
  for (const name of ['secrets.json', 'fiatpay-key.json', 'treasury.json'])
    t.is(statSync(join(folder, name)).mode & 0o777, 0o600, name)
})

test("the treasury's file is a Solana key pair whose seed gives the wallet that is announced", (t) => {
  const folder = temporaryFolder(t)
  const { treasuryWallet } = stackSecrets(folder)
  const bytes = Buffer.from(JSON.parse(readFileSync(join(folder, 'treasury.json'), 'utf8')) as number[])
  const seed = Buffer.concat([pkcs8Ed25519, bytes.subarray(0, 32)])
  const { x = '' } = createPublicKey(createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  })
  t.deepEqual(decodeBase58(treasuryWallet), new Uint8Array(Buffer.from(x, 'base64url')))
})

test('damaged secrets stop the start instead of being replaced, for sealed wallets would be lost', (t) => {
  const folder = temporaryFolder(t)
  stackSecrets(folder)
  const file = join(folder, 'secrets.json')
  chmodSync(file, 0o600)
  writeFileSync(file, '{"walletKek":')
  t.throws(() => stackSecrets(folder), { instanceOf: Refusal, message: /secrets\.json is damaged/ })
  t.is(readFileSync(file, 'utf8'), '{"walletKek":')
})
