import test from 'ava'
import { parseEmailAddress } from '../../../src/accounts/email-address.js'

test('14.7 e-mail addresses in common use are read, in one form', (t) => {
  for (const [text, address] of Object.entries({
    ' Ada@Example.com ': 'ada@example.com',
    'ada+tips@example.com': 'ada+tips@example.com',
    "a&b!c#d=e/f%g~h'i*j?k^l_m`n{o|p}q$r-s@example.com": "a&b!c#d=e/f%g~h'i*j?k^l_m`n{o|p}q$r-s@example.com",
    'a.b@sub.example.co.uk': 'a.b@sub.example.co.uk',
    'ada@bücher.example': 'ada@xn--bcher-kva.example',
    'ada@BÜCHER.example': 'ada@xn--bcher-kva.example',
    'ada@xn--bcher-kva.example': 'ada@xn--bcher-kva.example',
    'ada@почта.рф': 'ada@xn--80a1acny.xn--p1ai',
    'ada@3com.example': 'ada@3com.example',
    [`${'a'.repeat(64)}@example.com`]: `${'a'.repeat(64)}@example.com`,
  }))
    t.is(parseEmailAddress(text), address)
})

test('14.7 other texts are no e-mail addresses', (t) => {
  for (const text of [
    '',
    'ada',
    '@example.com',
    'ada@',
    'ada@example',
    'ada@example.c',
    'ada@localhost',
    'ada@127.0.0.1',
    'ada@[127.0.0.1]',
    'ada@-example.com',
    'ada@example..com',
    'ada@example.com.',
    'ada@exa mple.com',
    'ada@bücher.example/x',
    'ada@bücher.example#x',
    'ada@bücher.example:25',
    '.ada@example.com',
    'ada.@example.com',
    'a..da@example.com',
    'a da@example.com',
    '"ada"@example.com',
    'ada <ada@example.com>',
    'ada@example.com, bob@example.com',
    'ada@bob@example.com',
    'ада@example.com',
    'ada@example.com\r\nBcc: bob@example.com',
    'a\u0000da@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(64)}.com`,
    `ada@${'a.'.repeat(130)}com`,
  ])
    t.is(parseEmailAddress(text), undefined, text)
})
