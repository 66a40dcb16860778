import test from 'ava'
import { permittedOrigin } from '../../src/sdk/sessions/check-origin.js'

const whitelist = [
  'example.com',
  '*.sites.example',
  'shop.example:8443',
  'plain.example:443',
  'xn--bcher-kva.example',
]

const permitted: Record<string, string> = {
  'https://example.com': 'https://example.com',
  'http://example.com': 'http://example.com',
  'https://EXAMPLE.com/shop?a=1#b': 'https://example.com',
  'https://example.com:8080/': 'https://example.com:8080',
  'https://example.com./': 'https://example.com.',
  'https:example.com': 'https://example.com',
  'ht\ntps://example.com': 'https://example.com',
  ' https://example.com ': 'https://example.com',
  'https://example.com\\@evil.com': 'https://example.com',
  'https://@example.com': 'https://example.com',
  'https://a.sites.example': 'https://a.sites.example',
  'https://a.b.sites.example': 'https://a.b.sites.example',
  'https://shop.example:8443/x': 'https://shop.example:8443',
  'https://plain.example': 'https://plain.example',
  'http://plain.example:443': 'http://plain.example:443',
  'https://bücher.example': 'https://xn--bcher-kva.example',
  'http://localhost': 'http://localhost',
  // 14.6: local hosts need no scheme.
  localhost: 'http://localhost',
  'localhost:3000': 'http://localhost:3000',
  ' LocalHost:5173 ': 'http://localhost:5173',
  '127.0.0.1': 'http://127.0.0.1',
  '127.0.0.1:8080': 'http://127.0.0.1:8080',
  'http://LOCALHOST:5173/page': 'http://localhost:5173',
  'http://localhost\\.evil.com': 'http://localhost',
  'http://localhost.:3000': 'http://localhost.:3000',
  'http://ｌｏｃａｌｈｏｓｔ': 'http://localhost',
  'https://127.0.0.1:8443': 'https://127.0.0.1:8443',
  'http://127.0.0.1./': 'http://127.0.0.1',
  ' http://127.0.0.1?a#b': 'http://127.0.0.1',
}

for (const [originUrl, origin] of Object.entries(permitted))
  test(`${JSON.stringify(originUrl)} is permitted`, (t) => {
    t.is(permittedOrigin(originUrl, whitelist), origin)
  })

const refused = [
  '',
  'null',
  'example.com',
  '//example.com',
  'localhost:99999',
  'localhost:3000@evil.com',
  'localhost.evil.com',
  'localhost:evil.com',
  '127.0.0.1.nip.io',
  '127.0.0.2',
  'localhost.',
  'http://',
  'http://localhost.evil.com',
  'http://localhost%2eevil.com',
  'http://localhost。evil.com',
  'http://localhost@evil.com',
  'http://localhost:80@evil.com',
  'http://localhost..',
  'http://xlocalhost',
  'http://127.0.0.1.nip.io',
  'http://127.0.0.1@evil.com',
  // Point 22: what a browser reads as 127.0.0.1 is not how a developer writes it.
  'http://2130706433',
  'http://2130706433:3000',
  'http://127.1',
  'http://127.0.1',
  'http://0x7f.1',
  'http://0x7f000001',
  'http://0177.0.0.1',
  'http://017700000001',
  'http://①②⑦.⓪.⓪.①',
  'http://127.0.0.1\t1',
  'http://127.1?127.0.0.1',
  'http://127.1/127.0.0.1',
  'http://127.0.0.2',
  'http://0.0.0.0',
  'http://[::1]',
  'http://[::ffff:127.0.0.1]',
  'http://user@localhost',
  'http://user:word@example.com',
  'https://:word@example.com',
  'https://evil.com/example.com',
  'https://evil.com?https://example.com',
  'https://evil.com#example.com',
  'https://evil.com\\@example.com',
  'https://example.com@evil.com',
  'https://example.com.evil.com',
  'https://evilexample.com',
  'https://www.example.com',
  'https://example.co',
  'https://example.com..',
  'https://sites.example',
  'https://evilsites.example',
  'https://shop.example',
  'https://shop.example:8444',
  'http://plain.example',
  'https://exаmple.com', // with a Cyrillic a
  'https://ехаmрlе.com',
  'https://a;script-src.sites.example',
  'https://a,b.sites.example',
  "https://a'b.sites.example",
  'https://*.sites.example',
  'https://.sites.example',
  'https://a..sites.example',
  'javascript:alert(1)',
  'javascript://example.com/%0aalert(1)',
  'data:text/html,https://example.com',
  'blob:https://example.com/x',
  'blob:http://localhost/x',
  'filesystem:https://example.com/x',
  'file:///etc/passwd',
  'file://localhost/etc/passwd',
  'ftp://example.com',
  'ws://localhost',
  'about:blank',
  'chrome-extension://example.com',
  `https://example.com/${'a'.repeat(2048)}`,
]

for (const originUrl of refused)
  test(`${JSON.stringify(originUrl.slice(0, 60))} is refused`, (t) => {
    t.is(permittedOrigin(originUrl, whitelist), undefined)
  })

test('with an empty whitelist only the local machine is permitted', (t) => {
  t.is(permittedOrigin('https://example.com', []), undefined)
  t.is(permittedOrigin('http://localhost:3000', []), 'http://localhost:3000')
})

test('a malformed whitelist entry permits nothing', (t) => {
  for (const entry of ['', '*', '*.', 'https://example.com', 'example.com/', '.', '*.com:'])
    t.is(permittedOrigin('https://example.com', [entry]), undefined, entry)
})

test('a permitted origin is safe in a policy header', (t) => {
  for (let code = 0x20; code < 0x180; code++) {
    const originUrl = `https://a${String.fromCodePoint(code)}b.sites.example`
    t.regex(
      permittedOrigin(originUrl, whitelist) ?? 'https://none',
      /^https:\/\/[a-z0-9._-]+(:\d+)?$/,
      originUrl,
    )
  }
})
