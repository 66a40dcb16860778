import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import type { RequestOptions } from '../helpers/client.js'
import { registerPerson } from '../helpers/people.js'
import { useWorld } from '../helpers/world.js'

const world = useWorld(test)

/** Every kind of credential there is. */
const kinds = ['none', 'cookie', 'access token', 'API key', 'session token'] as const
type Kind = (typeof kinds)[number]

/** What the contract's section Authentication lets in; `anybody` needs no credential and gains nothing by one. */
const cookieOrToken: readonly Kind[] = ['cookie', 'access token']
const cookieOnly: readonly Kind[] = ['cookie']
const anybody = kinds
const opens: Readonly<Record<string, readonly Kind[]>> = {
  'POST /auth/register': anybody,
  'POST /auth/login': anybody,
  'POST /auth/otp/start': anybody,
  'POST /auth/otp/verify': anybody,
  'GET /auth/me': cookieOrToken,
  'POST /auth/logout': cookieOrToken,
  'GET /creators/balance': cookieOnly,
  'GET /creators/transactions': cookieOnly,
  'POST /payments/intent': anybody,
  'POST /chain/tips/create': anybody,
  'GET /chain/tips': anybody,
  'GET /chain/tips/stream': anybody,
}

/** What a refused credential is answered. */
const refusals: Readonly<Record<string, string>> = {
  '/auth': 'Unauthorized',
  '/creators': 'Unauthorized',
  '/payouts': 'Unauthorized',
}

/** One of each kind that lives. A kind nothing issues yet is well-formed and unknown. */
async function present(kind: Kind): Promise<RequestOptions> {
  const { session, accessToken } = await registerPerson(world())
  const presented: Record<Kind, RequestOptions> = {
    none: {},
    cookie: { session },
    'access token': { bearer: accessToken },
    'API key': {
      bearer: `tk_live_${randomBytes(4).toString('hex')}_${randomBytes(32).toString('base64url')}`,
    },
    'session token': { bearer: `sdk_sess_${randomUUID()}` },
  }
  return presented[kind]
}

interface Document {
  readonly paths: Record<string, Record<string, { readonly security: Record<string, unknown>[] }>>
}

async function documented(): Promise<Map<string, Record<string, unknown>[]>> {
  const { body } = await world().request<Document>('GET', '/openapi.json')
  const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { security }]) => [`${method.toUpperCase()} ${path}`, security] as const,
    ),
  )
  return new Map(operations)
}

test('every endpoint of the document has its line in this table, and no other has', async (t) => {
  t.deepEqual([...(await documented()).keys()].sort(), Object.keys(opens).sort())
})

test('the document names the credentials that really open each endpoint', async (t) => {
  const schemes: Record<string, Kind> = {
    session: 'cookie',
    accessToken: 'access token',
    apiKey: 'API key',
    sdkSession: 'session token',
  }
  for (const [endpoint, security] of await documented()) {
    const named = security.flatMap((alternative) => Object.keys(alternative).map((scheme) => schemes[scheme]))
    t.deepEqual(named.length === 0 ? [...anybody] : named, [...(opens[endpoint] ?? [])], endpoint)
  }
})

for (const [endpoint, allowed] of Object.entries(opens))
  for (const kind of kinds)
    test(`${endpoint} ${allowed.includes(kind) ? 'is open with' : 'is shut with'} ${kind}`, async (t) => {
      const [method = '', path = ''] = endpoint.split(' ')
      const answer = await world().request(method, path, await present(kind))
      // Without a body or query nothing is done behind the door: what matters is who answers.
      t.is(answer.status === 401, !allowed.includes(kind), `${answer.status}`)
      if (answer.status !== 401) return
      t.is(answer.body.error, refusals[`/${path.split('/')[1]}`] ?? 'no text in this table')
      t.is(answer.session, undefined)
    })
