import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { RequestOptions } from '../helpers/http/client.js'
import { registerPerson } from '../helpers/make/people.js'
import { openSession, registerEmbedder } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

/** Every kind of credential there is. */
const kinds = ['none', 'cookie', 'access token', 'API key', 'session token'] as const
type Kind = (typeof kinds)[number]

/** What the contract's section Authentication lets in; `anybody` needs no credential and gains nothing by one. */
const cookieOrToken: readonly Kind[] = ['cookie', 'access token']
const cookie: readonly Kind[] = ['cookie']
const apiKey: readonly Kind[] = ['API key']
const sessionToken: readonly Kind[] = ['session token']
const anybody = kinds
const opens: Readonly<Record<string, readonly Kind[]>> = {
  'POST /auth/register': anybody,
  'POST /auth/login': anybody,
  'POST /auth/otp/start': anybody,
  'POST /auth/otp/verify': anybody,
  'GET /auth/me': cookieOrToken,
  'POST /auth/logout': cookieOrToken,
  'GET /creators/me': cookie,
  'PATCH /creators/me': cookie,
  'POST /creators/domain-challenge': cookie,
  'POST /creators/api-keys': cookie,
  'GET /creators/api-keys': cookie,
  'DELETE /creators/api-keys/{id}': cookie,
  'GET /creators/domains': cookie,
  'PUT /creators/domains': cookie,
  'GET /creators/tips': cookie,
  'GET /creators/tips/daily': cookie,
  'GET /creators/balance': cookie,
  'GET /creators/transactions': cookie,
  'GET /creators/banks': cookie,
  'POST /creators/bank-accounts/resolve': cookie,
  'POST /payouts/withdraw': cookie,
  'GET /payouts/history': cookie,
  'POST /payments/intent': anybody,
  'POST /payments/fiat/intent': anybody,
  'GET /payments/fiat/status': anybody,
  'GET /payments/fiat/rate': anybody,
  'POST /chain/tips/create': anybody,
  'GET /chain/tips': anybody,
  'GET /chain/tips/stream': anybody,
  'POST /sdk/init': apiKey,
  'GET /sdk/events': apiKey,
  'POST /sdk/tip': sessionToken,
  'GET /sdk/intents': sessionToken,
  'GET /sdk/intents/{intentId}': sessionToken,
  'GET /sdk/session': sessionToken,
  'POST /sdk/handoff': sessionToken,
  'POST /sdk/handoff/redeem': anybody,
  'GET /pay/{code}': anybody,
  'POST /pay/{code}': anybody,
}

/** Whether a key opens anything is asked only once the required fields are there. */
const completed: Readonly<Record<string, { readonly query?: string; readonly body?: unknown }>> = {
  'POST /sdk/init': { body: { creatorId: randomUUID(), originUrl: 'https://shop.example' } },
  'GET /sdk/events': { query: `?creatorId=${randomUUID()}` },
}

/** What a refused credential is answered. */
function refusalOf(allowed: readonly Kind[]): string {
  if (allowed.includes('cookie')) return 'Unauthorized'
  return `Missing or invalid ${allowed.join(' or ')}`
}

/** A new one of each kind that lives. */
const issue: Readonly<Record<Kind, () => Promise<RequestOptions>>> = {
  none: async () => ({}),
  cookie: async () => ({ session: (await registerPerson(world())).session }),
  'access token': async () => ({ bearer: (await registerPerson(world())).accessToken }),
  'API key': async () => ({ bearer: (await registerEmbedder(world())).apiKey }),
  'session token': async () => ({
    bearer: (await openSession(world(), await registerEmbedder(world()))).sessionToken,
  }),
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

// One after the other: together they would be two hundred passwords to be hashed before the first one answers.
for (const [endpoint, allowed] of Object.entries(opens))
  for (const kind of kinds)
    test.serial(
      `${endpoint} ${allowed.includes(kind) ? 'is open with' : 'is shut with'} ${kind}`,
      async (t) => {
        const [method = '', path = ''] = endpoint.split(' ')
        const answer = await world().request(method, `${path}${completed[endpoint]?.query ?? ''}`, {
          ...(await issue[kind]()),
          body: completed[endpoint]?.body,
        })
        // Without a body or query nothing is done behind the door: what matters is who answers.
        t.is(answer.status === 401, !allowed.includes(kind), `${answer.status}`)
        if (answer.status !== 401) return
        t.is(answer.body.error, refusalOf(allowed))
        t.is(answer.session, undefined)
      },
    )
