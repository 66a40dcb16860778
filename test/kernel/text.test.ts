import test from 'ava'
import fc from 'fast-check'
import { cleanLine, cleanMessage, maskAddress } from '../../src/kernel/text.js'
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
        'a',
      ),
    },
  ),
  maxLength: 60,
})
const anyLimit = fc.integer({ min: 1, max: 30 })

test('control characters are removed from a line', (t) => {
  for (let code = 0; code < 0x20; code++) t.is(cleanLine(`a${String.fromCharCode(code)}b`, 100), 'ab')
  for (let code = 0x7f; code < 0xa0; code++) t.is(cleanLine(`a${String.fromCharCode(code)}b`, 100), 'ab')
})

test('a line has no line separators', (t) => {
  t.is(cleanLine('a\r\nb\u2028c\u2029d', 100), 'abcd')
})

test('marks of text direction are removed', (t) => {
  const marks = [
    0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
  ]
  for (const mark of marks) {
    t.is(cleanLine(`a${String.fromCodePoint(mark)}b`, 100), 'ab', mark.toString(16))
    t.is(cleanMessage(`a${String.fromCodePoint(mark)}b`, 100), 'ab', mark.toString(16))
  }
})

test('line breaks and tabs stay in a message, other control characters do not', (t) => {
  t.is(cleanMessage('thank\tyou\nso\r\nmuch\0\u001b[31m', 100), 'thank\tyou\nso\nmuch[31m')
})

test('letters, emoji and their joiners stay as they are', (t) => {
  for (const text of ['👩‍👩‍👧‍👦 ❤️ 🇳🇬 👍🏽', 'Ẹ kú iṣẹ́', 'مرحبا', '你好', '<b>&amp;\'"', 'naïve', 'נעים'])
    t.is(cleanMessage(text, 100), text.normalize('NFC'))
})

test('different encodings of the same letters become the same text', (t) => {
  t.is(cleanLine('Zoe\u0308', 100), 'Zoë')
  t.is(cleanLine('e\u0000\u0301', 100), 'é', 'a control character between letter and accent is removed')
})

test('the text is trimmed, also after a cut', (t) => {
  t.is(cleanLine('  a b \n', 100), 'a b')
  t.is(cleanMessage('\n\n a\n\nb \n', 100), 'a\n\nb')
  t.is(cleanLine('abc def', 4), 'abc')
  t.is(cleanMessage('abc\n\ndef', 5), 'abc')
  t.is(cleanLine('\u200f \0 ', 100), '')
})

test('a cut never splits a character', (t) => {
  t.is(cleanLine('aaa😀', 3), 'aaa')
  t.is(cleanLine('aaa😀', 4), 'aaa')
  t.is(cleanLine('aaa😀', 5), 'aaa😀')
  t.is(cleanLine('aaaa', 4), 'aaaa')
  t.is(cleanMessage('x'.repeat(501), 500).length, 500)
})

test('a letter that becomes longer when normalised still fits the limit', (t) => {
  t.is('\u0958'.normalize('NFC').length, 2)
  t.true(cleanLine('\u0958'.repeat(20), 20).length <= 20)
})

test('clean text is safe, normalised, trimmed, within its limit, and unchanged when cleaned again', (t) => {
  const unsafe = {
    line: /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u,
    message: /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u,
  }
  fc.assert(
    fc.property(anyText, anyLimit, (text, limit) => {
      const line = cleanLine(text, limit)
      const message = cleanMessage(text, limit)
      t.notRegex(line, unsafe.line)
      t.notRegex(message, unsafe.message)
      for (const clean of [line, message]) {
        t.true(clean.length <= limit)
        t.is(clean, clean.normalize('NFC').trim())
        t.is(Buffer.from(clean).toString(), clean, 'half a surrogate pair')
      }
      t.is(cleanLine(line, limit), line)
      t.is(cleanMessage(message, limit), message)
    }),
    seededRuns(t, 2000),
  )
})

test('half a surrogate pair is replaced', (t) => {
  t.is(cleanLine('a\ud83db', 100), 'a\ufffdb')
  t.is(cleanMessage('\udc00', 100), '\ufffd')
})

test('a wallet is masked to its first and last four characters', (t) => {
  t.is(maskAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'), 'EPjF...Dt1v')
})
