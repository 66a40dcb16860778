import test from 'ava'
import { mailText } from '../../scripts/kit/mail-text.js'
import { listSites } from '../../src/creators/sites.js'
import { proveEmailOf, registerPerson } from '../helpers/make/creators.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

function put(session: string, domains: unknown) {
  return world().request<{ domains: string[]; error?: string }>('PUT', '/creators/domains', {
    session,
    body: { domains },
  })
}

const accepted: Readonly<Record<string, string>> = {
  'example.com': 'example.com',
  '*.example.com': '*.example.com',
  'example.com:8443': 'example.com:8443',
  'EXAMPLE.Com.': 'example.com',
  ' example.com ': 'example.com',
  'bücher.example': 'xn--bcher-kva.example',
  'ｅｘａｍｐｌｅ.com': 'example.com',
  'example。com': 'example.com',
  'example.com:0443': 'example.com:443',
  '*.Shop.example.com:8443': '*.shop.example.com:8443',
  '192.168.0.1:3000': '192.168.0.1:3000',
  intranet: 'intranet',
}
test('a site is stored in its plain form', async (t) => {
  const { session, user } = await registerPerson(world())
  for (const [entry, stored] of Object.entries(accepted)) {
    const answer = await put(session, [entry])
    t.deepEqual([answer.status, answer.body.domains], [200, [stored]], entry)
    t.deepEqual(await listSites(world().db, user.id), [stored], entry)
  }
})

const hostile: readonly unknown[] = [
  '',
  ' ',
  '.',
  '*',
  '*.',
  '*.com',
  '*.*.example.com',
  'a.*.example.com',
  '*example.com',
  'https://example.com',
  'example.com/',
  'example.com/path',
  'example.com?q',
  'example.com#f',
  'user@example.com',
  'user:pass@example.com',
  'example.com:',
  'example.com:0',
  'example.com:65536',
  'example.com:80:80',
  'example.com:8x',
  'example..com',
  'example.com..',
  '.example.com',
  'exa mple.com',
  'exa\tmple.com',
  'example.com\u0000',
  'example.com;frame-ancestors *',
  "example.com 'unsafe-inline'",
  'example.com,evil.example',
  'a\\b.example',
  '%65xample.com',
  'localhost%2eevil.com',
  '[::1]',
  '[::1]:3000',
  '2130706433',
  '0x7f.1',
  '*.127.0.0.1',
  'xn--a.example',
  'javascript:alert(1)',
  'data:text/html,x',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(130)}example`,
  'x'.repeat(50_000),
  7,
  null,
  {},
  ['example.com'],
]

test('what is not a site is refused, and the list stays', async (t) => {
  const { session, user } = await registerPerson(world())
  await put(session, ['kept.example'])
  for (const entry of hostile) {
    const answer = await put(session, ['example.com', entry])
    const what = JSON.stringify(entry).slice(0, 60)
    t.deepEqual([answer.status, answer.body.error], [400, 'Invalid domain'], what)
    t.deepEqual(await listSites(world().db, user.id), ['kept.example'], what)
  }
})

test('PUT replaces the list, keeps the order and removes duplicates', async (t) => {
  const { session } = await registerPerson(world())
  await put(session, ['old.example'])
  await put(session, ['b.example', 'a.example', 'B.EXAMPLE.'])
  const read = () => world().request<{ domains: string[] }>('GET', '/creators/domains', { session })
  t.deepEqual((await read()).body.domains, ['b.example', 'a.example'])
  await put(session, [])
  t.deepEqual((await read()).body.domains, [])
})

test('a list may have fifty sites and not fifty-one', async (t) => {
  const { session } = await registerPerson(world())
  const sites = Array.from({ length: 51 }, (_, n) => `s${n}.example`)
  t.is((await put(session, sites)).body.error, 'Invalid domain')
  t.is((await put(session, sites.slice(1))).status, 200)
})

test('after concurrent PUTs the stored list is one of the lists', async (t) => {
  const { session, user } = await registerPerson(world())
  const lists = Array.from({ length: 10 }, (_, n) => ['shared.example', `a${n}.example`, `b${n}.example`])
  const answers = await Promise.all(lists.map((domains) => put(session, domains)))
  t.true(answers.every(({ status }) => status === 200))
  const stored = await listSites(world().db, user.id)
  t.true(
    lists.some((domains) => JSON.stringify(domains) === JSON.stringify(stored)),
    stored.join(),
  )
})

test('one mail names the new sites of a PUT, and none is sent when nothing was added', async (t) => {
  const person = await registerPerson(world())
  await proveEmailOf(world(), person)
  const { session, email } = person
  const texts = async (): Promise<string[]> =>
    (await world().db('emails').where({ recipient: email, kind: 'site-added' }).orderBy('created_at')).map(
      mailText,
    )
  await put(session, ['a.example'])
  t.regex((await texts()).join(), /Site: a\[\.\]example$/m)
  await put(session, ['c.example', 'b.example', 'a.example'])
  t.regex((await texts())[1] ?? '', /Sites: c\[\.\]example, b\[\.\]example$/m)
  await put(session, ['b.example'])
  await put(session, [])
  await put(session, ['b.example', '://'])
  t.is((await texts()).length, 2)
})
