import test from 'ava'
import { createApiKey } from '../../src/creators/api-keys.js'
import { testNotice } from '../../src/kernel/brand.js'
import { createClient } from '../helpers/http/client.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { registerPerson } from '../helpers/make/creators.js'
import { createSession, registerEmbedder } from '../helpers/make/sdk.js'
import { deliverEmail } from '../helpers/make/sign-in/emailed-codes.js'
import { startOperatorsPages } from '../helpers/servers/operators-pages.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'

const LIVE_URL = 'https://tips.example'
const world = useWorld(test, { mail: true, env: { MODE: 'test', LIVE_URL } })
const accept = 'text/html'

async function pagesOf(url: string, embedUrl: string): Promise<[string, string][]> {
  const { pathname } = new URL(embedUrl)
  const paths = [
    '/',
    '/nowhere',
    '/paid',
    '/dashboard',
    '/dashboard/tips',
    '/overlay',
    '/docs',
    '/embed/x',
    pathname,
  ]
  return Promise.all(
    paths.map(
      async (path) => [path, (await requestRaw(url, 'GET', path, { accept })).text] as [string, string],
    ),
  )
}

test('every page of a test deployment says that its money is play money, no page of a live one', async (t) => {
  const { config } = await createSession(world(), await registerEmbedder(world()))
  for (const [path, text] of await pagesOf(world().url, config.embedUrl))
    t.is(text.split(testNotice).length, 2, path)
  const operators = await startOperatorsPages(t, world())
  t.true((await operators('/ops')).text.includes(testNotice))

  const live = await startApp(t, { ...world().env, MODE: 'live' })
  for (const [path, text] of await pagesOf(live.url, config.embedUrl)) {
    t.true(text.includes('</html>'), path)
    t.false(text.includes(testNotice), path)
  }
})

test('a hosted test deployment offers wallets no transaction, which would pay on the real chain', async (t) => {
  const walletPaths = async (env: Readonly<Record<string, string>>) => {
    const { url } = await startApp(t, env)
    const { paths } = JSON.parse((await requestRaw(url, 'GET', '/openapi.json')).text)
    t.is((await requestRaw(url, 'GET', '/actions.json')).status, env === world().env ? 200 : 404)
    return Object.keys(paths).filter((path) => /^\/(actions|pay\/)/.test(path)).length
  }
  t.is(await walletPaths(world().env), 5)
  t.is(await walletPaths({ ...world().env, PUBLIC_URL: 'https://test.example' }), 0)
})

test('the dashboard gets the mode and the address of the other deployment', async (t) => {
  const page = async (url: string) => (await requestRaw(url, 'GET', '/dashboard', { accept })).text
  t.regex(await page(world().url), /<html[^>]* data-mode="test" data-other-url="https:\/\/tips\.example"/)
  const live = await startApp(t, { ...world().env, MODE: 'live' })
  const text = await page(live.url)
  t.regex(text, /<html[^>]* data-mode="live"/)
  t.notRegex(text, /data-other-url/)
})

test('every mail of a test deployment says so in its subject, its text and its HTML', async (t) => {
  const person = await registerPerson(world())
  await createApiKey(world().services, person.user.id, undefined)
  const { subject, text, html } = await deliverEmail(world(), person.email)
  t.true(subject.startsWith('[Test] '), subject)
  t.true(text.startsWith(`${testNotice}\n\n`))
  t.true(html.includes(`<body><p><mark>${testNotice}</mark></p>`))
  t.regex(text, /Begins with: tk_test_/)
})

test('the OpenAPI document of a test deployment names the form of its keys', async (t) => {
  const request = await createClient(world().url)
  t.true(JSON.stringify((await request('GET', '/openapi.json')).body).includes('Bearer tk_test_'))
})
