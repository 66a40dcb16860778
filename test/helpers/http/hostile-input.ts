import type { RequestOptions } from './client.js'

const json = { 'content-type': 'application/json' }

/** Bodies that no endpoint can read. Each must be answered with the endpoint's own validation text. */
export const badBodies: Readonly<Record<string, RequestOptions>> = {
  'malformed JSON': { body: '{"email":', headers: json },
  'an array': { body: [] },
  'a text': { body: '"text"', headers: json },
  'a number': { body: '1', headers: json },
  null: { body: 'null', headers: json },
  'the literal NaN': { body: '{"email":NaN}', headers: json },
  '70 KB': { body: { email: 'x'.repeat(70 * 1024) } },
  'a depth of 100,000': { body: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, headers: json },
  'a depth of 21': { body: `${'{"a":'.repeat(21)}1${'}'.repeat(21)}`, headers: json },
  'a form': {
    body: 'email=a%40example.com&password=password1&name=Ada',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
  'a multipart form': {
    body: '--b\r\ncontent-disposition: form-data; name="email"\r\n\r\na@example.com\r\n--b--\r\n',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  },
  'plain text': {
    body: '{"email":"a@example.com","password":"password1","name":"Ada"}',
    headers: { 'content-type': 'text/plain' },
  },
  'an unknown charset': { body: '{}', headers: { 'content-type': 'application/json; charset=klingon' } },
  'an unknown encoding': { body: '{}', headers: { ...json, 'content-encoding': 'zip' } },
}

/** Texts that a stranger may enter and others read: markup, script, templates, text direction, size. */
export const hostileTexts = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '"><svg onload=window.hacked=1>',
  "'-window.hacked=1-'",
  '</article></ul><h1>hacked</h1>',
  '{{constructor.constructor("window.hacked=1")()}}',
  '{sender} {amount} {token}',
  'javascript:window.hacked=1',
  '&lt;b&gt;&amp;&#x3c;script&#x3e;',
  '\u202Egnp.exe\u202C and \u2066mixed\u2069',
  'שלום مرحبا',
  'W'.repeat(300),
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!',
  '👩‍👩‍👧‍👦'.repeat(30),
] as const
