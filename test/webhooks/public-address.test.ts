import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { Config } from '../../src/platform/config/config.js'
import { isPublicAddress } from '../../src/webhooks/public-address.js'
import { sendWebhook } from '../../src/webhooks/send-webhook.js'
import { parseTarget, reachOf, resolveTarget, TargetRefused } from '../../src/webhooks/target.js'

const names: Readonly<Record<string, readonly string[]>> = {
  'shop.example': ['93.184.215.14', '2606:4700::1111'],
  'loop.example': ['127.0.0.1'],
  'mixed.example': ['93.184.215.14', '10.0.0.7'],
  'meta.example': ['169.254.169.254'],
  'six.example': ['::1'],
  'mapped.example': ['::ffff:192.168.0.1'],
  'local.example': ['fe80::1%eth0'],
  'text.example': ['not an address'],
  'none.example': [],
}
const resolve = async (name: string) => {
  const found = names[name.replace(/\.$/, '')]
  if (found === undefined) throw new Error('ENOTFOUND')
  return found
}
const reach = { local: false, resolve }

const hostile = [
  // Spellings of IPv4 literals.
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://%31%32%37.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.1.2.3/',
  'https://100.64.0.1/',
  'https://100.127.255.255/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0xa9fea9fe/',
  'https://2852039166/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.0.0.1/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://192.168.1.1/',
  'https://198.18.0.1/',
  'https://198.51.100.9/',
  'https://203.0.113.9/',
  'https://224.0.0.1/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  // IPv6 literals, and IPv4 in them.
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[64:ff9b:1::1]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:a00:1::1]/',
  'https://[100::1]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[fc00::1]/',
  'https://[fd12:3456::1]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[3fff::1]/',
  // Names, schemes, ports, credentials.
  'https://localhost/',
  'https://LOCALHOST./',
  'https://router/',
  'http://shop.example/',
  'ftp://shop.example/',
  'file:///etc/passwd',
  'https://shop.example:22/',
  'https://shop.example:6379/',
  'https://user:secret@shop.example/',
  'https://user@shop.example/',
  'https://loop.example/',
  'https://mixed.example/',
  'https://meta.example/',
  'https://six.example/',
  'https://mapped.example/',
  'https://local.example/',
  'https://text.example/',
  'https://none.example/',
  'https://unknown.example/',
  'https://',
  'shop.example',
  '',
  `https://shop.example/${'x'.repeat(2048)}`,
]

test('hostile URLs and names are refused when something is sent, with a reason', async (t) => {
  t.true(hostile.length >= 60)
  for (const url of hostile) {
    const { ok, status, answer } = await sendWebhook({ url, headers: {}, body: '{}' }, reach)
    t.false(ok, url)
    t.is(status, null, url)
    t.regex(answer, /^not sent: the URL (must|has)/, url)
  }
})

test('public URLs are accepted, in their normal form', async (t) => {
  for (const url of [
    'https://shop.example/hooks?a=1',
    'https://shop.example:443/',
    'https://shop.example:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[64:ff9b::808:808]/',
  ])
    t.true((await resolveTarget(parseTarget(url, reach), reach)).length > 0, url)
  t.deepEqual(await resolveTarget(parseTarget('https://shop.example/', reach), reach), names['shop.example'])
})

test('the edges of the private networks are where they belong', (t) => {
  const table: Readonly<Record<string, boolean>> = {
    '9.255.255.255': true,
    '11.0.0.0': true,
    '100.63.255.255': true,
    '100.128.0.0': true,
    '172.15.255.255': true,
    '172.32.0.0': true,
    '198.17.255.255': true,
    '198.20.0.0': true,
    '223.255.255.255': true,
    '2000::1': true,
    '2001:1ff:ffff::1': false,
    '2001:200::1': true,
    '2002:808:808::1': true,
    '4000::1': false,
    '1fff::1': false,
    'fe80::1%eth0': false,
    '': false,
  }
  for (const [address, isPublic] of Object.entries(table)) t.is(isPublicAddress(address), isPublic, address)
})

test('a hosted deployment reaches nothing of its own machine, in test mode neither', (t) => {
  const reaches = (publicUrl: string) => reachOf({ http: { publicUrl } } as Config, resolve)
  for (const hosted of [
    'https://test.tips.example',
    'https://localhost.tips.example',
    'https://tips.example/localhost',
    'https://localhost@tips.example',
    'https://127.0.0.1.nip.example',
    'https://203.0.113.9',
    'https://10.0.0.7',
    'https://[::ffff:7f00:1]',
  ])
    for (const url of [
      'http://localhost:5432/',
      'http://127.0.0.1:6379/',
      'https://[::1]/',
      'http://localhost/',
    ])
      t.throws(() => parseTarget(url, reaches(hosted)), { instanceOf: TargetRefused }, `${hosted} ${url}`)
  for (const own of ['http://localhost:3000', 'http://127.0.0.1:8080', 'http://[::1]', 'http://LOCALHOST'])
    t.is(parseTarget('http://localhost:5173/hook', reaches(own)).port, '5173', own)
})

test('only this machine is reached with `local`, by http too and at any port', async (t) => {
  const local = { local: true, resolve }
  for (const url of [
    'http://localhost:1234/',
    'http://127.0.0.1:1/',
    'https://localhost:4433/',
    'http://[::1]:80/',
  ])
    t.true((await resolveTarget(parseTarget(url, local), local)).length > 0, url)
  for (const url of [
    'http://127.0.0.2/',
    'http://10.0.0.1/',
    'http://shop.example/',
    'http://localhost.example/',
  ])
    t.throws(() => parseTarget(url, local), { instanceOf: TargetRefused }, url)
})

test('a name is resolved once per attempt, and the connection goes to what was checked', async (t) => {
  // Rebinding: the first answer is public, every later one is this machine.
  let asked = 0
  const rebinding = { local: false, resolve: async () => (asked++ === 0 ? ['203.0.114.1'] : ['127.0.0.1']) }
  let reached = 0
  const server = createServer((_, answer) => {
    reached++
    answer.end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  const message = { url: 'https://rebind.example:8443/', headers: {}, body: '{}' }
  const first = await sendWebhook(message, rebinding, 300)
  t.is(asked, 1)
  t.is(first.status, null)
  t.notRegex(first.answer, /^not sent/, 'it tried the public address')
  const second = await sendWebhook(message, rebinding, 300)
  t.regex(second.answer, /resolves to a private address/)
  t.is(asked, 2)
  t.is(reached, 0)
  t.true((server.address() as AddressInfo).port > 0)
})

test('a name server that never answers is given up at the deadline', async (t) => {
  // The deadline alone keeps no process alive.
  const alive = createServer().listen(0, '127.0.0.1')
  t.teardown(() => alive.close())
  const silent = { local: false, resolve: () => new Promise<never>(() => undefined) }
  const message = { url: 'https://silent.example/', headers: {}, body: '{}' }
  t.is((await sendWebhook(message, silent, 100)).answer, 'no complete answer within 0.1 s')
})
