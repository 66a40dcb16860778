import test from 'ava'
import fc from 'fast-check'
import { parseEmailAddress } from '../../src/accounts/email-address.js'
import { cleanLine, cleanMessage, countCharacters, maskAddress } from '../../src/kernel/text.js'
import { seededRuns } from '../helpers/random.js'

const anyText = fc.string({
  unit: fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ' ',
        '\n',
        '\t',
        '\0',
        '\u202e',
        '\u200f',
        '\u2028',
        'e\u0301',
        '😀',
        '\u0958',
        '\u200d',
        '\u200c',
        '\u200b',
        '\u00a0',
        '👩',
        'ک',
        '\u3164',
        'a',
      ),
    },
  ),
  maxLength: 60,
})
const anyLimit = fc.integer({ min: 1, max: 30 })

const separators = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x85])

test('14.8 control characters are removed, and those that separate become blanks', (t) => {
  for (const [from, to] of [
    [0, 0x20],
    [0x7f, 0xa0],
  ] as const)
    for (let code = from; code < to; code++)
      t.is(
        cleanLine(`a${String.fromCharCode(code)}b`, 100),
        separators.has(code) ? 'a b' : 'ab',
        code.toString(16),
      )
})

test('14.8 line breaks and no-break spaces become blanks', (t) => {
  t.is(cleanLine('a\r\nb\u2028c\u2029d\u00a0e\u202ff\u2007g\th', 100), 'a b c d e f g h')
})

test('14.8 format characters are removed', (t) => {
  const format = [
    0xad, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x2061, 0x2064, 0xfeff, 0xfff9, 0xe0001, 0xe0061,
  ]
  for (const code of format) t.is(cleanLine(`a${String.fromCodePoint(code)}b`, 100), 'ab', code.toString(16))
})

test('14.8 what shows nothing is empty', (t) => {
  for (const text of [
    '',
    ' \n\u00a0',
    '\u200b\u200d',
    '\u3164',
    '\u115f\u1160',
    '\uffa0',
    '\u2800 \u2800',
    '\ufe0f',
    '\u034f',
    '\u{e0061}',
  ])
    t.is(cleanLine(text, 100), '', JSON.stringify(text))
})

test('14.8 joiners stay where they change what is shown, and nowhere else', (t) => {
  for (const text of ['👩‍👩‍👧‍👦', '❤️‍🔥', '👍🏽', '🏳️‍🌈', 'می‌خواهم', 'क्‍ष']) t.is(cleanLine(text, 100), text)
  for (const text of ['👩\u200d', '\u200d👩', 'Ada\u200d👩', 'A\u200cda', '👩\u200d\u200d👩'])
    t.notRegex(cleanLine(text, 100), /[\u200c\u200d]/)
})

test('14.8 a text is cut to code points, and the cut is known', (t) => {
  t.is(countCharacters(cleanLine('😀'.repeat(501), 500)), 500)
  t.deepEqual(cleanMessage('😀'.repeat(500)), { message: '😀'.repeat(500) })
  t.deepEqual(cleanMessage('😀'.repeat(501)), { message: '😀'.repeat(500), truncated: true })
  t.deepEqual(
    cleanMessage(`${'a'.repeat(500)}\u200b \n`),
    { message: 'a'.repeat(500) },
    'what is removed does not count',
  )
  t.is(cleanLine('ab👩‍👩', 4), 'ab👩', 'a joiner without its second half is dropped')
})

test('a letter that becomes longer when normalised still fits the limit', (t) => {
  t.is('\u0958'.normalize('NFC').length, 2)
  t.true(cleanLine('\u0958'.repeat(20), 20).length <= 20)
})

test('clean text is safe, normalised, trimmed, within its limit, and unchanged when cleaned again', (t) => {
  const unsafe = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0]/u
  fc.assert(
    fc.property(anyText, anyLimit, (text, limit) => {
      const line = cleanLine(text, limit)
      t.notRegex(line, unsafe)
      t.true(countCharacters(line) <= limit)
      t.is(line, line.normalize('NFC').trim())
      t.is(Buffer.from(line).toString(), line, 'half a surrogate pair')
      t.is(cleanLine(line, limit), line)
    }),
    seededRuns(t, 2000),
  )
})

test('of marks one on another thirty stay: normalizing takes the square of their number', (t) => {
  const marks = '\u0301'.repeat(16_000) + '\u0316'.repeat(16_000)
  for (const text of [marks, `a${marks}`, `\u0958${marks}`, marks.replaceAll('\u0316', 'b\u0344')]) {
    const clean = cleanLine(text)
    t.notRegex(clean, /\p{M}{31}/u)
    t.is(cleanLine(clean), clean)
  }
  t.is(countCharacters(cleanLine(`a${marks}`)), 30, 'the letter takes one')
  t.is(parseEmailAddress(`ada@${marks}.example`), undefined)
})

test('a wallet is masked to its first and last four characters', (t) => {
  t.is(maskAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'), 'EPjF...Dt1v')
})
