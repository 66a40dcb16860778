import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { RequestOptions } from '../helpers/http/client.js'
import { registerPerson } from '../helpers/make/creators.js'
import { createSession, registerEmbedder } from '../helpers/make/sdk.js'
import { ageSessions } from '../helpers/make/sign-in/factors.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

/** Every kind of credential. */
const kinds = ['none', 'cookie', 'access token', 'API key', 'session token'] as const
type Kind = (typeof kinds)[number]

/** The credentials that each endpoint accepts. `anyone`: the endpoint needs no credential. */
const cookieOrToken: readonly Kind[] = ['cookie', 'access token']
const cookie: readonly Kind[] = ['cookie']
const apiKey: readonly Kind[] = ['API key']
const cookieOrKey: readonly Kind[] = ['cookie', 'API key']
const sessionToken: readonly Kind[] = ['session token']
const anyone = kinds
const accepts: Readonly<Record<string, readonly Kind[]>> = {
  'POST /auth/register': anyone,
  'POST /auth/login': anyone,
  'POST /auth/otp/start': anyone,
  'POST /auth/otp/verify': anyone,
  'POST /auth/otp/link': anyone,
  'POST /auth/password/reset': anyone,
  'POST /auth/password/reset/confirm': anyone,
  'POST /auth/email/confirm': anyone,
  'POST /auth/email/undo': anyone,
  'POST /auth/password': cookie,
  'POST /auth/password/check': cookie,
  'POST /auth/email': cookie,
  'GET /auth/sessions': cookie,
  'DELETE /auth/sessions': cookie,
  'DELETE /auth/sessions/{id}': cookie,
  'GET /auth/security': cookie,
  'POST /auth/totp': cookie,
  'DELETE /auth/totp': cookie,
  'POST /auth/totp/confirm': cookie,
  'POST /auth/recovery-codes': cookie,
  'POST /auth/passkeys/options': cookie,
  'POST /auth/passkeys': cookie,
  'GET /auth/passkeys': cookie,
  'DELETE /auth/passkeys/{id}': cookie,
  'POST /auth/passkeys/confirm/options': cookie,
  'POST /auth/passkeys/login/options': anyone,
  'POST /auth/passkeys/login': anyone,
  'POST /auth/not-me': anyone,
  'POST /auth/withdrawals/confirm': anyone,
  'PUT /auth/tip-mails': cookie,
  'GET /auth/me': cookieOrToken,
  'DELETE /auth/me': cookie,
  'GET /auth/export': cookie,
  'POST /auth/export/download': anyone,
  'POST /auth/logout': cookieOrToken,
  'GET /creators/events': cookieOrKey,
  'GET /creators/stream': cookieOrKey,
  'GET /creators/me': cookie,
  'PATCH /creators/me': cookie,
  'GET /creators/page': cookie,
  'PATCH /creators/page': cookie,
  'PUT /creators/page/picture': cookie,
  'DELETE /creators/page/picture': cookie,
  'POST /creators/domain-challenge': cookie,
  'POST /creators/api-keys': cookie,
  'GET /creators/api-keys': cookie,
  'DELETE /creators/api-keys/{id}': cookie,
  'POST /creators/webhooks': cookie,
  'GET /creators/webhooks': cookie,
  'PATCH /creators/webhooks/{id}': cookie,
  'DELETE /creators/webhooks/{id}': cookie,
  'POST /creators/webhooks/{id}/rotate': cookie,
  'POST /creators/webhooks/{id}/test': cookie,
  'GET /creators/webhooks/{id}/deliveries': cookie,
  'POST /creators/webhooks/{id}/redeliver': cookie,
  'GET /creators/overlay': cookie,
  'PATCH /creators/overlay': cookie,
  'POST /creators/overlay/token': cookie,
  'POST /creators/overlay/test': cookie,
  'POST /creators/overlay/pictures': cookie,
  'GET /creators/overlay/tips': cookie,
  'POST /creators/overlay/tips': cookie,
  'GET /overlay/{token}/stream': anyone,
  'GET /overlay/{token}/figures': anyone,
  'GET /creators/domains': cookie,
  'POST /creators/payout-wallet/challenge': cookie,
  'PUT /creators/payout-wallet': cookie,
  'GET /creators/payout-wallet': cookie,
  'DELETE /creators/payout-wallet': cookie,
  'GET /creators/wallet/tokens': cookie,
  'POST /creators/wallet/transfers': cookie,
  'GET /creators/wallet/transfers': cookie,
  'GET /creators/wallet/transfers/{id}': cookie,
  'POST /creators/wallet/transfers/{id}/sign': cookie,
  'PUT /creators/domains': cookie,
  'GET /creators/tips': cookie,
  'GET /creators/statement': cookie,
  'GET /creators/tips/daily': cookie,
  'POST /creators/tips/{id}/refund': cookie,
  'GET /creators/tips/{id}/refunds': cookie,
  'POST /creators/tips/{id}/accept-short': cookie,
  'POST /creators/tips/{id}/give-back': cookie,
  'GET /creators/balance': cookie,
  'GET /reserves': anyone,
  'GET /.well-known/tipping-keys.json': anyone,
  'GET /t/{token}.json': anyone,
  'GET /creators/transactions': cookie,
  'GET /creators/banks': cookie,
  'GET /creators/bank-accounts': cookie,
  'GET /creators/balance/tokens': cookie,
  'POST /creators/bank-accounts/resolve': cookie,
  'POST /payouts/withdraw': cookie,
  'GET /payouts/history': cookie,
  'POST /payouts/{reference}/confirm': cookie,
  'POST /payouts/{reference}/confirm/resend': cookie,
  'POST /payouts/{reference}/cancel': cookie,
  'GET /creators/payees': cookie,
  'DELETE /creators/payees/{id}': cookie,
  'POST /page/{handle}/session': anyone,
  'POST /payments/intent': anyone,
  'POST /payments/fiat/intent': anyone,
  'GET /payments/fiat/status': anyone,
  'GET /payments/fiat/rate': anyone,
  'POST /chain/tips/create': anyone,
  'GET /chain/tips': anyone,
  'GET /chain/tips/stream': anyone,
  'POST /sdk/init': apiKey,
  'GET /sdk/events': apiKey,
  'POST /sdk/tip': sessionToken,
  'GET /sdk/intents': sessionToken,
  'GET /sdk/intents/{intentId}': sessionToken,
  'GET /sdk/session': sessionToken,
  'POST /sdk/session/renew': sessionToken,
  'POST /sdk/handoff': sessionToken,
  'POST /sdk/handoff/redeem': anyone,
  'GET /pay/{code}': anyone,
  'POST /pay/{code}': anyone,
  'GET /actions.json': anyone,
  'GET /actions/tip/{handle}': anyone,
  'POST /actions/tip/{handle}': anyone,
  'POST /actions/tip/{handle}/sent': anyone,
  'POST /actions/tip/{handle}/naira': anyone,
}

/** The required fields of endpoints that check the key only after them. */
const requiredFields: Readonly<Record<string, { readonly query?: string; readonly body?: unknown }>> = {
  'POST /sdk/init': { body: { creatorId: randomUUID(), originUrl: 'https://shop.example' } },
  'GET /sdk/events': { query: `?creatorId=${randomUUID()}` },
  // An open stream would never end.
  'GET /creators/stream': { query: '?after=x' },
}

/** The error text for a refused credential. A bearer where a key would do is taken for one. */
function refusalOf(allowed: readonly Kind[], kind: Kind): string {
  if (allowed === cookieOrKey) return kind === 'none' ? 'Unauthorized' : 'Missing or invalid API key'
  if (allowed.includes('cookie')) return 'Unauthorized'
  return `Missing or invalid ${allowed.join(' or ')}`
}

/** Creates a valid credential of each kind. */
const createCredential: Readonly<Record<Kind, () => Promise<RequestOptions>>> = {
  none: async () => ({}),
  cookie: async () => ({ session: (await registerPerson(world())).session }),
  'access token': async () => ({ bearer: (await registerPerson(world())).accessToken }),
  'API key': async () => ({ bearer: (await registerEmbedder(world())).apiKey }),
  'session token': async () => ({
    bearer: (await createSession(world(), await registerEmbedder(world()))).sessionToken,
  }),
}

interface Document {
  readonly paths: Record<string, Record<string, { readonly security: Record<string, unknown>[] }>>
}

async function documentedSecurity(): Promise<Map<string, Record<string, unknown>[]>> {
  const { body } = await world().request<Document>('GET', '/openapi.json')
  const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { security }]) => [`${method.toUpperCase()} ${path}`, security] as const,
    ),
  )
  return new Map(operations)
}

test('this table lists exactly the endpoints of the OpenAPI document', async (t) => {
  t.deepEqual([...(await documentedSecurity()).keys()].sort(), Object.keys(accepts).sort())
})

test('the OpenAPI document has the credentials that each endpoint accepts', async (t) => {
  const schemes: Record<string, Kind> = {
    session: 'cookie',
    accessToken: 'access token',
    apiKey: 'API key',
    sdkSession: 'session token',
  }
  for (const [endpoint, security] of await documentedSecurity()) {
    const named = security.flatMap((alternative) => Object.keys(alternative).map((scheme) => schemes[scheme]))
    t.deepEqual(named.length === 0 ? [...anyone] : named, [...(accepts[endpoint] ?? [])], endpoint)
  }
})

// Serial, because each test hashes a password: two hundred at the same time would delay every answer.
for (const [endpoint, allowed] of Object.entries(accepts))
  for (const kind of kinds)
    test.serial(`${endpoint} ${allowed.includes(kind) ? 'accepts' : 'refuses'} ${kind}`, async (t) => {
      const [method = '', path = ''] = endpoint.split(' ')
      const answer = await world().request(method, `${path}${requiredFields[endpoint]?.query ?? ''}`, {
        ...(await createCredential[kind]()),
        body: requiredFields[endpoint]?.body,
      })
      // Most requests have no input and fail after the credential check. Only the 401 matters here.
      t.is(answer.status === 401, !allowed.includes(kind), `${answer.status}`)
      if (answer.status !== 401) return
      t.is(answer.body.error, refusalOf(allowed, kind))
      t.is(answer.session, undefined)
    })

/** What an old cookie alone does not do: it may be a stolen one. */
const needRecent = [
  'POST /auth/totp',
  'POST /auth/passkeys/options',
  'DELETE /auth/sessions',
  `DELETE /auth/sessions/${randomUUID()}`,
  'GET /auth/export',
  'DELETE /auth/me',
]

test.serial('an old cookie alone changes nothing of what protects the account', async (t) => {
  const person = await registerPerson(world())
  await ageSessions(world(), person)
  for (const endpoint of needRecent) {
    const [method = '', path = ''] = endpoint.split(' ')
    const { status, body } = await world().request<{ code?: string }>(method, path, {
      session: person.session,
    })
    t.is(`${status} ${body.code}`, '401 reauthentication_required', endpoint)
  }
})
