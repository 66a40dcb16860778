import { readFileSync } from 'node:fs'
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
  'GET /@{handle}',
  'GET /@{handle}/picture',
  'GET /@{handle}/og.png',
  'GET /@{handle}/qr.svg',
  'GET /@{handle}/qr.png',
  'GET /@{handle}/wallet-qr.svg',
  'GET /embed/{embedId}',
  'GET /overlay',
  'GET /overlay/{token}',
  'GET /overlay/{token}/pictures/{hash}',
  'GET /paid',
  'GET /t/{token}',
  'POST /t/{token}/accept',
  'POST /t/{token}/give-back',
  'GET /verify',
  'GET /tip-mails/{token}',
  'POST /tip-mails/{token}',
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

const user =
  'user.id user.email user.name user.full_name user.first_name user.roles user.walletAddress user.walletPublicKey user.emailVerifiedAt user.onboardingComplete user.onboarding_complete user.solDomain user.twitterHandle user.discordHandle'
const auth = 'auth.accessToken auth.tokenType auth.expiresAt'
const tip = 'amount tokenSymbol sender message timestamp'

/** The fields that the contract gives each of its answers. */
const contract: Readonly<Record<string, string>> = {
  'POST /auth/register': `success ${user} ${auth}`,
  'POST /auth/login': `success ${user} ${auth}`,
  'GET /auth/me': `success ${user}`,
  'POST /auth/otp/start': 'success',
  'POST /auth/otp/verify': `success ${user} ${auth}`,
  'POST /sdk/init':
    'success sessionToken config.creatorId config.creatorAddress config.acceptedTokens config.embedUrl',
  'POST /sdk/tip': 'success intentId status',
  'GET /sdk/events':
    'success events[].eventId events[].type events[].amountUsdc events[].amountRaw events[].tokenSymbol events[].sender events[].timestamp events[].txSignature',
  'POST /payments/intent':
    'success intentId status transaction quote executionMode provider lastValidBlockHeight settings',
  'POST /chain/tips/create': 'success tip.id tip.status tip.recipientId tip.amount tip.tokenSymbol message',
  'GET /chain/tips':
    'success tips[].signature tips[].recipient tips[].recipient_id tips[].sender tips[].sender_id tips[].amount tips[].tokenSymbol tips[].message tips[].timestamp tips[].status tips[].valueUsd tips[].isStable tips[].fiatDetails',
  'GET /chain/tips/stream': `status wallet type ${tip}`,
  'POST /payments/fiat/intent': 'success intentId status checkoutUrl paymentInstructions',
  'GET /payments/fiat/status': 'success intentId status completedAt',
  'POST /payouts/withdraw': 'success provider reference status amountNGN systemFeeNGN amountUSDC currency',
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Every field, with those inside it: `events[].sender`. */
function fieldsOf(schema: Schema, name = ''): string[] {
  const { properties = {}, items, anyOf = [] } = schema
  const inside = [
    ...anyOf.flatMap((one) => fieldsOf(one, name)),
    ...(items === undefined ? [] : fieldsOf(items, `${name}[]`)),
    ...Object.entries(properties).flatMap(([key, one]) =>
      fieldsOf(one, name === '' ? key : `${name}.${key}`),
    ),
  ]
  return name === '' ? inside : [name, ...inside]
}

/** The fields that docs/integrating.md lists, by call. */
function listed(): Map<string, string[]> {
  const rows = new Map<string, string[]>()
  const [, section = ''] = readFileSync('docs/integrating.md', 'utf8').split(
    '## Fields beyond the contract\n',
  )
  let calls: string[] = []
  for (const [, first, fields = ''] of section.matchAll(/^(?:- (.*)| {2}- (.*))$/gm)) {
    if (first !== undefined) {
      calls = [...first.matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, call = '']) => call)
      continue
    }
    const [, list = '', reason = ''] = /^(`.+?`): (.+)$/.exec(fields) ?? []
    if (reason === '') throw new Error(`${fields}: no reason`)
    const names = [...list.matchAll(/`([^`]+)`/g)].map(([, field = '']) => field)
    for (const call of calls) rows.set(call, [...(rows.get(call) ?? []), ...names])
  }
  return rows
}

test('what answers say beyond the contract is in the list of docs/integrating.md, with a reason', async (t) => {
  const { paths } = await readDocument(world().request)
  const rows = listed()
  for (const [call, text] of Object.entries(contract)) {
    const [method = '', path = ''] = call.split(' ')
    const answers = paths[path]?.[method.toLowerCase()]?.responses['200']?.content ?? {}
    const given = Object.values(answers).flatMap((one) => {
      const { schema, itemSchema } = one as unknown as { schema?: Schema; itemSchema?: Schema }
      return fieldsOf(schema ?? itemSchema ?? {})
    })
    const named = text.split(' ')
    const isKnown = (field: string): boolean =>
      named.some((one) => field === one || field.startsWith(`${one}.`) || field.startsWith(`${one}[`)) ||
      named.some((one) => one.startsWith(`${field}.`) || one.startsWith(`${field}[`))
    const beyond = given.filter((field) => !isKnown(field)).map((field) => field.replace(/^\w+\[\]\./, ''))
    const first = beyond.filter((field) => !field.includes('.'))
    t.deepEqual([...new Set(first)].toSorted(), (rows.get(call) ?? []).toSorted(), call)
    t.true(given.length > 0, call)
  }
})
