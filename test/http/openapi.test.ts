import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import test from 'ava'
import { createApp } from '../../src/app.js'
import { readDocument, readOperations } from '../helpers/http/openapi-document.js'
import { mountedRoutes } from '../helpers/servers/reached.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
/** The expected place of a parameter: in the path, in the header, or in the query. */
function placeOf({ name }: Readonly<Record<string, unknown>>, path: string): string {
  if (name === 'Idempotency-Key' || name === 'Last-Event-ID') return 'header'
  return path.includes(`{${name}}`) ? 'path' : 'query'
}
/** A path as the document writes it. */
const documented = (path: string) => path.replace(/:(\w+)/g, '{$1}')
/** Mounted routes that are not API endpoints, and therefore not in the document. */
const pages = [
  'GET /',
  'GET /openapi.json',
  'GET /dashboard',
  'GET /dashboard/{screen}',
  'GET /embed/{embedId}',
  'GET /overlay',
  'GET /paid',
  'GET /embed.js',
  'GET /assets/{name}',
  'GET /pay-icon.svg',
  'GET /favicon.ico',
  'POST /webhooks/fiatpay',
  'GET /docs',
  'GET /docs/{style}',
  'GET /docs.md',
  'GET /llms.txt',
]
const operations = () => readOperations(world().request)

test('the document has every part that OpenAPI 3.1 requires', async (t) => {
  const document = await readDocument(world().request)
  t.regex(document.openapi, /^3\.1\.\d+$/)
  t.truthy(document.info.title && document.info.version)
  t.true(document.servers.every(({ url }) => URL.canParse(url)))
  const ajv = new Ajv2020({ strict: true, strictTypes: false, validateFormats: false })
  for (const { path, method, operation } of await operations()) {
    t.regex(path, /^\//)
    t.regex(method, /^(get|post|put|patch|delete)$/)
    t.truthy(operation.summary)
    for (const requirement of operation.security)
      for (const name of Object.keys(requirement)) t.true(name in document.components.securitySchemes)
    for (const parameter of operation.parameters ?? []) {
      t.deepEqual(Object.keys(parameter).sort(), ['in', 'name', 'required', 'schema'])
      t.is(parameter['in'], placeOf(parameter, path))
      t.not(`${parameter['in']} ${parameter['required']}`, 'path false')
      t.notThrows(() => ajv.compile(parameter['schema'] as AnySchema))
    }
    t.truthy(operation.responses['200'])
    const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    )
    for (const { schema } of contents) t.notThrows(() => ajv.compile(schema), `${method} ${path}`)
    for (const { description } of Object.values(operation.responses)) t.is(typeof description, 'string')
  }
})

test('operations have names that people write, a tag, and the headers of their answers; schemas have names', async (t) => {
  const { tags, components } = await readDocument(world().request)
  const names = new Set(tags.map(({ name }) => name))
  const all = await operations()
  t.is(new Set(all.map(({ operation }) => operation.operationId)).size, all.length)
  for (const { method, path, operation } of all) {
    const call = `${method} ${path}`
    t.regex(operation.operationId, /^[a-z]+([A-Z0-9][a-z]*)*$/, call)
    t.true(operation.tags.length === 1 && operation.tags.every((tag) => names.has(tag)), call)
    for (const { headers } of Object.values(operation.responses))
      t.true('X-RateLimit-Remaining' in headers, call)
    t.true('Retry-After' in (operation.responses['429']?.headers ?? {}), call)
    const sent = (operation.parameters ?? []).filter((one) => one['in'] === 'header').map(({ name }) => name)
    if (path === '/chain/tips/stream') t.deepEqual(sent, ['Last-Event-ID'])
    if (path === '/payouts/withdraw') t.deepEqual(sent, ['Idempotency-Key'])
  }
  const { withdraw } = Object.fromEntries(all.map(({ operation }) => [operation.operationId, operation]))
  t.truthy(withdraw?.responses['200']?.headers['Idempotency-Hit'])
  for (const name of ['WithdrawRequest', 'WithdrawAnswer', 'TooManyRequestsError'])
    t.true(name in components.schemas, name)
})

test('the document lists exactly the mounted endpoints', async (t) => {
  const app = createApp(world().services)
  t.teardown(() => app.close())
  const mounted = mountedRoutes(app).map(documented)
  const listed = (await operations()).map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  t.deepEqual(mounted.sort(), [...listed, ...pages].sort())
  t.true(listed.length >= 8)
})

test('no request field has a default, which generated clients take for required', async (t) => {
  for (const { path, method, operation } of await operations())
    t.notRegex(
      JSON.stringify([operation.requestBody, operation.parameters]),
      /"default"/,
      `${method} ${path}`,
    )
})
