import test from 'ava'
import { hashSecret, isIntentId, newIntentId, newSecret, parseUserId } from '../../src/kernel/ids.js'

const id = '0b9f3c52-7a1e-4d7c-9c1e-3f6f0a4b2c1d'

test('a user id is a UUID in any case, with or without the prefix', (t) => {
  t.is(parseUserId(id), id)
  t.is(parseUserId(`auth_${id}`), id)
  t.is(parseUserId(id.toUpperCase()), id)
  t.is(parseUserId(`auth_${id.toUpperCase()}`), id)
})

test('nothing else is a user id', (t) => {
  const refused = [
    '',
    'auth_',
    `AUTH_${id}`,
    `auth_auth_${id}`,
    `auth-${id}`,
    ` ${id}`,
    `${id} `,
    `${id}\n`,
    `{${id}}`,
    `urn:uuid:${id}`,
    id.replaceAll('-', ''),
    id.slice(1),
    `${id}0`,
    id.replace('0', 'g'),
    `pi_${id}`,
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    'creator.sol',
  ]
  for (const text of refused) t.is(parseUserId(text), undefined, JSON.stringify(text))
})

test('isIntentId accepts a payment intent id and no other text', (t) => {
  t.true(isIntentId(newIntentId()))
  t.not(newIntentId(), newIntentId())
  for (const text of [
    '',
    'pi_',
    id,
    `pi_${id}\0`,
    `pi_${id}\n`,
    ` pi_${id}`,
    `PI_${id}`,
    `pi_${id.slice(1)}`,
    'pi_1',
  ])
    t.false(isIntentId(text), JSON.stringify(text))
})

test('a secret has 256 bits, and its hash is SHA-256', (t) => {
  const secret = newSecret()
  t.is(Buffer.from(secret, 'base64url').length, 32)
  t.not(newSecret(), secret)
  t.is(hashSecret('abc').toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
