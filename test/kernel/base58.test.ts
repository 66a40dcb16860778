import { randomBytes } from 'node:crypto'
import test from 'ava'
// @ts-expect-error: version 4 carries no types
import bs58 from 'bs58'
import fc from 'fast-check'
import { decodeBase58, encodeBase58, isAddress, isSignature } from '../../src/kernel/base58.js'
import { seededRuns } from '../helpers/random.js'

/** The npm package `bs58`, typed by its documentation. */
const reference: {
  encode(bytes: Uint8Array): string
  decodeUnsafe(text: string): Uint8Array | undefined
} = bs58

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Includes many leading zeros, where encoders differ. */
const anyBytes = fc
  .tuple(fc.integer({ min: 0, max: 8 }), fc.uint8Array({ maxLength: 56 }))
  .map(([zeros, rest]) => Uint8Array.from([...new Uint8Array(zeros), ...rest]))

test('encoding agrees with bs58, and decoding returns the bytes', (t) => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const text = encodeBase58(bytes)
      t.is(text, reference.encode(bytes))
      t.deepEqual(decodeBase58(text), bytes)
    }),
    seededRuns(t, 2000),
  )
})

test('decoding agrees with bs58 for any text of up to 88 characters', (t) => {
  const base58 = fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 88 })
  const nearly = fc.string({ unit: fc.constantFrom(...alphabet, ...'0OIl +/=\n\t\u00a0é'), maxLength: 88 })
  fc.assert(
    fc.property(fc.oneof(base58, nearly, fc.string({ unit: 'binary', maxLength: 40 })), (text) => {
      const expected = reference.decodeUnsafe(text)
      t.deepEqual(decodeBase58(text), expected && Uint8Array.from(expected))
    }),
    seededRuns(t, 2000),
  )
})

test('an address is base58 of exactly 32 bytes', (t) => {
  t.true(isAddress('So11111111111111111111111111111111111111112'))
  t.true(isAddress('11111111111111111111111111111111'))
  t.true(isAddress(encodeBase58(new Uint8Array(32).fill(255))))
  const bytes = randomBytes(32)
  const text = encodeBase58(bytes)
  const refused: unknown[] = [
    encodeBase58(bytes.subarray(1)),
    encodeBase58(Buffer.concat([bytes, Buffer.of(1)])),
    `1${text}`,
    '1'.repeat(31),
    '1'.repeat(33),
    ` ${text}`,
    `${text}\n`,
    '',
    '1'.repeat(44),
    'z'.repeat(44),
    null,
    undefined,
    42,
    [text],
    { toString: () => text },
    new String(text),
  ]
  for (const bad of refused) t.false(isAddress(bad), JSON.stringify(bad))
})

test('a signature is base58 of exactly 64 bytes', (t) => {
  const bytes = randomBytes(64)
  const text = encodeBase58(bytes)
  t.true(isSignature(text))
  t.true(isSignature('1'.repeat(64)))
  t.true(isSignature(encodeBase58(new Uint8Array(64).fill(255))), 'the longest: 88 characters')
  const refused: unknown[] = [
    encodeBase58(bytes.subarray(0, 63)),
    encodeBase58(Buffer.concat([Buffer.of(1), bytes])),
    `1${text}`,
    '1'.repeat(63),
    '1'.repeat(65),
    '1'.repeat(88),
    'z'.repeat(88),
    `${text} `,
    encodeBase58(bytes.subarray(0, 32)),
    [text],
    null,
  ]
  for (const bad of refused) t.false(isSignature(bad), JSON.stringify(bad))
})

test('a text that is too long is refused without decoding it', (t) => {
  const long = 'z'.repeat(2_000_000)
  const start = performance.now()
  for (let i = 0; i < 1000; i++) {
    t.is(decodeBase58(long), undefined)
    t.false(isAddress(long))
    t.false(isSignature(long))
  }
  // Decoding it once would take minutes, since decoding is quadratic.
  t.true(performance.now() - start < 20_000)
})
