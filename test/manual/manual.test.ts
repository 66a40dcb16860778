import test from 'ava'
import { errors } from '../../src/kernel/errors.js'
import { readOperations } from '../helpers/http/openapi-document.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'
import { elementsOf, refuseScript } from './page.js'

/** A test deployment has every call. */
const world = useWorld(test, { env: { MODE: 'test' } })

const get = (path: string, headers: Record<string, string> = {}) =>
  requestRaw(world().url, 'GET', path, headers)
const text = async (path: string): Promise<string> => (await get(path)).text
const page = async () => elementsOf(await text('/docs'))
const idsOf = (elements: Awaited<ReturnType<typeof page>>): string[] =>
  elements.flatMap(({ attributes }) => attributes.get('id') ?? [])

test('every endpoint of the OpenAPI document has its section, with every field of its request', async (t) => {
  const elements = await page()
  const markdown = await text('/docs.md')
  const ids = new Set(idsOf(elements))
  const listed = await readOperations(world().request)
  t.true(listed.length >= 38)
  for (const { method, path, operation } of listed) {
    const name = `${method.toUpperCase()} ${path}`
    t.true(markdown.includes(`### ${name}\n`), name)
    const article = elements.find(
      ({ name: tag, text: words }) =>
        tag === 'article' &&
        words.includes(`${method.toUpperCase()}${path}`) &&
        words.includes(operation.summary),
    )
    const id = article?.attributes.get('id')
    t.truthy(id, name)
    const body = operation.requestBody?.content['application/json']?.schema
    const properties = typeof body === 'object' ? Object.keys((body['properties'] ?? {}) as object) : []
    for (const field of [...(operation.parameters ?? []).map((one) => one['name']), ...properties])
      t.true(ids.has(`${id}.${field}`), `${name}: ${field}`)
  }
})

test('every error has its anchor, exact text, cause and remedy, in HTML and in Markdown', async (t) => {
  const elements = await page()
  const markdown = await text('/docs.md')
  const quoted = ['payment_refused', 'payout_refused']
  for (const [code, [status, exact]] of Object.entries(errors)) {
    const place = elements.find(({ attributes }) => attributes.get('id') === `error-${code}`)
    const words = place?.text ?? ''
    t.true(words.startsWith(String(status)), code)
    t.true(words.includes(code), code)
    if (!quoted.includes(code)) {
      t.true(words.includes(exact), code)
      t.true(markdown.includes(`| ${status} | \`${exact}\` | \`${code}\` |`), code)
    }
    t.true(words.length > status.toString().length + code.length + exact.length + 20, code)
  }
})

test('every error that a call lists is in the section of the call', async (t) => {
  const elements = await page()
  for (const { method, path, operation } of await readOperations(world().request)) {
    const article = elements.find(
      ({ name, text: words }) =>
        name === 'article' &&
        words.includes(`${method.toUpperCase()}${path}`) &&
        words.includes(operation.summary),
    )
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (status === '200') continue
      const schema = content['application/json']?.schema as { properties: { code: { enum: string[] } } }
      for (const code of schema.properties.code.enum)
        t.true(article?.text.includes(code), `${method} ${path}: ${code}`)
    }
  }
})

test('every link leads to a page or an anchor, and anchors are unique', async (t) => {
  const elements = await page()
  const ids = idsOf(elements)
  t.is(new Set(ids).size, ids.length)
  const links = elements.flatMap(({ attributes }) => attributes.get('href') ?? [])
  t.true(links.length > 300)
  for (const link of new Set(links)) {
    if (link.startsWith('#')) t.true(ids.includes(link.slice(1)), link)
    else t.is((await get(link, { accept: 'text/html' })).status, 200, link)
  }
  const others = [await text('/docs.md'), await text('/llms.txt')].flatMap((words) => [
    ...words.matchAll(/\]\(([^)]+)\)/g),
  ])
  t.true(others.length > 100)
  for (const [, link = ''] of others) {
    t.true(link.startsWith(publicUrl), link)
    const [path = '', anchor] = link.slice(publicUrl.length).split('#')
    if (anchor === undefined) t.is((await get(path)).status, 200, link)
    else t.true(path === '/docs' && ids.includes(anchor), link)
  }
})

test('the page has only its own script, loads nothing from other sites and may not be framed', async (t) => {
  const elements = await page()
  t.notThrows(() => refuseScript(elements))
  const loaded = elements.flatMap(({ name, attributes }) =>
    /^(img|script)$/.test(name)
      ? (attributes.get('src') ?? [])
      : name === 'link'
        ? (attributes.get('href') ?? [])
        : [],
  )
  for (const address of loaded) t.regex(address, /^\/[^/]/)
  const { headers } = await get('/docs')
  t.is(
    headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  )
  t.is(headers['content-type'], 'text/html; charset=utf-8')
  t.is(headers['x-content-type-options'], 'nosniff')
})

test('every document is compressed when accepted, and answered with 304 when it has not changed', async (t) => {
  for (const path of ['/docs', '/docs.md', '/llms.txt']) {
    const plain = await get(path)
    t.is(plain.status, 200)
    t.is(plain.headers['content-encoding'], undefined)
    t.is(plain.headers.vary, 'Accept-Encoding')
    t.is(plain.headers['cache-control'], 'public, max-age=300')
    const zipped = await get(path, { 'accept-encoding': 'gzip' })
    t.is(zipped.headers['content-encoding'], 'gzip')
    t.not(zipped.headers.etag, plain.headers.etag)
    t.true(Number(zipped.headers['content-length']) < plain.text.length)
    for (const { headers } of [plain, zipped]) {
      const again = await get(path, {
        'if-none-match': String(headers.etag),
        ...(headers['content-encoding'] ? { 'accept-encoding': 'gzip' } : {}),
      })
      t.deepEqual([again.status, again.text], [304, ''])
    }
  }
  const response = await fetch(`${world().url}/docs`, { headers: { connection: 'close' } })
  t.is(await response.text(), await text('/docs'))
})

test('the stylesheet is cached forever, and another name is 404', async (t) => {
  const style = (await page()).find(({ attributes }) => attributes.get('rel') === 'stylesheet')
  const path = style?.attributes.get('href') ?? ''
  const { status, headers } = await get(path)
  t.deepEqual(
    [status, headers['content-type'], headers['cache-control']],
    [200, 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
  )
  t.is((await get('/docs/other.css')).status, 404)
})
