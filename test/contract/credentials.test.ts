import { bonk, freshWallet } from './support/chain.js'
import { assertError, check, once } from './support/check.js'
import { bank } from './support/money.js'
import { registerCreator } from './support/people.js'
import { type Answer, at, call } from './support/server.js'

// The table of credentials: each opens its own paths and no other.

const holder = once(async () => {
  const person = await registerCreator()
  const key = await call('POST', '/creators/api-keys', { cookie: person.cookie, body: { label: 'table' } })
  const apiKey = String(key.body['apiKey'])
  const body = { creatorId: person.id, originUrl: 'http://localhost' }
  const session = await call('POST', '/sdk/init', { body, bearer: apiKey })
  return { ...person, apiKey, sessionToken: String(session.body['sessionToken']) }
})
type Holder = Awaited<ReturnType<typeof holder>>

type Send = (credential: { cookie?: string; bearer?: string }, holder: Holder) => Promise<Answer>

const me: Send = (credential) => call('GET', '/auth/me', credential)
const creators: Send = (credential) => call('GET', '/creators/me', credential)
const withdraw: Send = (credential) =>
  call('POST', '/payouts/withdraw', { ...credential, body: { ...bank, amountUSDC: 1 } })
const history: Send = (credential) => call('GET', '/payouts/history', credential)
const init: Send = (credential, { id }) =>
  call('POST', '/sdk/init', { ...credential, body: { creatorId: id, originUrl: 'http://localhost' } })
const events: Send = (credential, { id }) => call('GET', `/sdk/events?creatorId=${id}`, credential)
const tip: Send = (credential, { id }) => {
  const body = { creatorId: id, amount: 4, inputTokenMint: bonk, sourceWalletAddress: freshWallet() }
  return call('POST', '/sdk/tip', { ...credential, body })
}

const credentials = {
  'the session cookie': ({ cookie }: Holder) => ({ cookie }),
  'the access token': ({ accessToken }: Holder) => ({ bearer: accessToken }),
  'an API key': ({ apiKey }: Holder) => ({ bearer: apiKey }),
  'an SDK session token': ({ sessionToken }: Holder) => ({ bearer: sessionToken }),
}
type Credential = keyof typeof credentials

const unauthorized = 'Unauthorized'
const invalidKey = 'Missing or invalid API key'
const invalidToken = 'Missing or invalid session token'
const table: [path: string, send: Send, opens: Credential[], error: string][] = [
  ['/auth/me', me, ['the session cookie', 'the access token'], unauthorized],
  ['/creators/me', creators, ['the session cookie'], unauthorized],
  ['/payouts/history', history, ['the session cookie'], unauthorized],
  ['/payouts/withdraw', withdraw, ['the session cookie'], unauthorized],
  ['/sdk/init', init, ['an API key'], invalidKey],
  ['/sdk/events', events, ['an API key'], invalidKey],
  ['/sdk/tip', tip, ['an SDK session token'], invalidToken],
]
for (const [path, send, opens, error] of table)
  for (const [name, credentialOf] of Object.entries(credentials))
    check(`${name} ${opens.includes(name as Credential) ? 'opens' : 'does not open'} ${path}`, async (t) => {
      const own = await holder()
      const answer = await send(credentialOf(own), own)
      if (!opens.includes(name as Credential)) return assertError(t, answer, 401, error)
      t.not(answer.status, 401, answer.text)
      return undefined
    })

const freePaths: [path: string, send: () => Promise<Answer>][] = [
  ['POST /payments/intent', () => call('POST', '/payments/intent', { body: {} })],
  ['POST /chain/tips/create', () => call('POST', '/chain/tips/create', { body: {} })],
  ['GET /chain/tips', () => call('GET', `/chain/tips?address=${freshWallet()}`)],
  ['POST /payments/fiat/intent', () => call('POST', '/payments/fiat/intent', { body: {} })],
  ['GET /payments/fiat/status', () => call('GET', '/payments/fiat/status?intentId=fiatpay_none')],
]
for (const [path, send] of freePaths)
  check(`${path} needs no credential`, async (t) => {
    t.false([401, 403].includes((await send()).status))
  })

check('the API key stays with the backend: no answer to a browser carries it', async (t) => {
  const { apiKey, id, cookie } = await holder()
  const answers = await Promise.all([
    call('POST', '/sdk/init', { body: { creatorId: id, originUrl: 'http://localhost' }, bearer: apiKey }),
    call('GET', '/creators/api-keys', { cookie }),
    call('GET', '/creators/me', { cookie }),
  ])
  for (const { text } of answers) t.false(text.includes(apiKey))
})
check('an error carries a status and an error text', async (t) => {
  const { status, body } = await call('GET', '/nothing/here')
  t.is(status, 404)
  t.is(typeof body['error'], 'string')
})
check('the checkout page can be framed', async (t) => {
  const { apiKey, id } = await holder()
  const body = { creatorId: id, originUrl: 'http://localhost' }
  const answer = await call('POST', '/sdk/init', { body, bearer: apiKey })
  const page = await fetch(String(at(answer.body, 'config', 'embedUrl')))
  t.is(page.status, 200)
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
  t.is(page.headers.get('x-frame-options'), null)
})
