import test from 'ava'
import { parseRecoveryCode } from '../../../src/accounts/factors/recovery-codes.js'
import {
  base32,
  codeAt,
  findStep,
  parseTotpCode,
  stepAt,
  totpUri,
} from '../../../src/accounts/factors/totp.js'

/** RFC 6238, appendix B, with its SHA-1 secret. */
const secret = Buffer.from('12345678901234567890')
const vectors: readonly [seconds: number, code: string][] = [
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
]

test('codes are those of RFC 6238, of which apps show the last six digits', (t) => {
  for (const [seconds, code] of vectors) t.is(codeAt(secret, stepAt(seconds)), code.slice(2))
})

test('a code counts for its step and one step before and after, no further', (t) => {
  const now = 1111111111
  const step = stepAt(now)
  const found = [-2, -1, 0, 1, 2].map((away) => findStep(secret, codeAt(secret, step + away), now))
  t.deepEqual(found, [undefined, step - 1, step, step + 1, undefined])
})

test('base32 is that of RFC 4648, without padding', (t) => {
  const texts = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => base32(Buffer.from(text)))
  t.deepEqual(texts, ['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI'])
})

test('the address for apps says everything that a code depends on', (t) => {
  const { protocol, host, pathname, searchParams } = new URL(totpUri('MZXW6', 'ada+tips@example.com'))
  t.deepEqual(
    [protocol, host, decodeURIComponent(pathname)],
    ['otpauth:', 'totp', '/Tips:ada+tips@example.com'],
  )
  t.deepEqual(Object.fromEntries(searchParams), {
    secret: 'MZXW6',
    issuer: 'Tips',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})

test('a code is read however it is grouped, and anything else is none', (t) => {
  t.deepEqual(
    ['123456', '123 456', ' 123456\n', '12345', '1234567', '12345a', '１２３４５６'].map(parseTotpCode),
    ['123456', '123456', '123456', undefined, undefined, undefined, undefined],
  )
  const code = 'k7tqm3abcdefghjkmnpqrstu'
  t.deepEqual([code, 'K7TQM3-ABCDEF-GHJKMN-PQRSTU', 'k7tqm3 abcdef ghjkmn pqrstu'].map(parseRecoveryCode), [
    code,
    code,
    code,
  ])
  for (const wrong of [
    '',
    '123456',
    `${code}a`,
    code.slice(1),
    code.replace('k', 'l'),
    code.replace('k', '0'),
  ])
    t.is(parseRecoveryCode(wrong), undefined, wrong)
})
