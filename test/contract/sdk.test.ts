import { freshWallet, fundedSupporter, sol, usdc } from './support/chain.js'
import { assertError, check, checkFields, checkWithStandIns, once } from './support/check.js'
import { registerCreator } from './support/people.js'
import { type Answer, at, call, type Json, until } from './support/server.js'
import * as shape from './support/shapes.js'

// POST /sdk/init, POST /sdk/tip, GET /sdk/events.

const invalidKey = 'Missing or invalid API key'

const creator = once(async () => {
  const person = await registerCreator()
  const key = await call('POST', '/creators/api-keys', { cookie: person.cookie, body: { label: 'contract' } })
  await call('PUT', '/creators/domains', { cookie: person.cookie, body: { domains: ['shop.example.com'] } })
  return { ...person, apiKey: String(key.body['apiKey']) }
})

async function init(changes: Json = {}, bearer?: string): Promise<Answer> {
  const { id, apiKey } = await creator()
  const body = { creatorId: id, originUrl: 'http://localhost:5173', ...changes }
  return call('POST', '/sdk/init', { body, bearer: bearer ?? apiKey })
}

const opened = once(() => init())

async function tip(changes: Json = {}, bearer?: string): Promise<Answer> {
  const { id } = await creator()
  const token = bearer ?? String((await init()).body['sessionToken'])
  const body = {
    creatorId: id,
    amount: 4,
    inputTokenMint: usdc,
    sourceWalletAddress: freshWallet(),
    ...changes,
  }
  return call('POST', '/sdk/tip', { body, bearer: token })
}

async function events(query: Json = {}, bearer?: string): Promise<Answer> {
  const { id, apiKey } = await creator()
  const search = new URLSearchParams({ creatorId: id, ...(query as Record<string, string>) })
  return call('GET', `/sdk/events?${search}`, { bearer: bearer ?? apiKey })
}

checkFields(check, 'init answers', async () => (await opened()).body, {
  success: shape.is(true),
  sessionToken: shape.matches(/^sdk_sess_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  'config.creatorId': shape.isUuid,
  'config.creatorAddress': shape.isMasked,
  'config.acceptedTokens': (value) => shape.isTextList(value) && (value as string[]).length > 0,
  'config.embedUrl': shape.matches(/^https?:\/\//),
})
check('config.creatorId is the id of the creator', async (t) => {
  t.is(at((await opened()).body, 'config', 'creatorId'), (await creator()).id)
})
check('the theme of the checkout is dark by default', async (t) => {
  t.is(new URL(String(at((await opened()).body, 'config', 'embedUrl'))).searchParams.get('theme'), 'dark')
})
for (const theme of ['dark', 'light'])
  check(`the checkout takes the theme ${theme}`, async (t) => {
    const { body } = await init({ theme })
    t.is(new URL(String(at(body, 'config', 'embedUrl'))).searchParams.get('theme'), theme)
  })
check('every init opens a session of its own', async (t) => {
  const [one, other] = [await init(), await init()]
  t.not(one.body['sessionToken'], other.body['sessionToken'])
})
check('creatorId takes a wallet', async (t) => {
  t.is((await init({ creatorId: (await creator()).wallet })).status, 200)
})
check('creatorId takes a user id with the prefix auth_', async (t) => {
  t.is((await init({ creatorId: `auth_${(await creator()).id}` })).status, 200)
})
for (const [title, originUrl] of Object.entries({
  localhost: 'http://localhost',
  'localhost with a port': 'http://localhost:8080',
  '127.0.0.1': 'http://127.0.0.1',
  '127.0.0.1 with a port and a path': 'http://127.0.0.1:8080/page',
  'a whitelisted domain': 'https://shop.example.com',
  'a page of a whitelisted domain': 'https://shop.example.com/cart?item=1',
}))
  check(`the origin ${title} passes`, async (t) => {
    t.is((await init({ originUrl })).status, 200)
  })
for (const [title, originUrl] of Object.entries({
  'of another domain': 'https://other.example.com',
  'whose domain only begins as a whitelisted one': 'https://shop.example.com.evil.com',
  'whose domain only ends as a whitelisted one': 'https://evilshop.example.com',
  'that hides a whitelisted domain in its path': 'https://evil.com/shop.example.com',
  'that hides localhost in a subdomain': 'http://localhost.evil.com',
  'that hides localhost in a user name': 'http://localhost@evil.com',
  'that is no URL': 'shop example com',
}))
  check(`an origin ${title} is refused`, async (t) => {
    assertError(t, await init({ originUrl }), 403, 'Unauthorized Origin')
  })
for (const [title, changes] of Object.entries<Json>({
  creatorId: { creatorId: undefined },
  originUrl: { originUrl: undefined },
  'creatorId and originUrl': { creatorId: undefined, originUrl: undefined },
}))
  check(`init without ${title} is refused`, async (t) => {
    assertError(t, await init(changes), 400, 'creatorId and originUrl are required')
  })
check('init without a key is refused', async (t) => {
  const body = { creatorId: (await creator()).id, originUrl: 'http://localhost' }
  assertError(t, await call('POST', '/sdk/init', { body }), 401, invalidKey)
})
for (const [title, key] of Object.entries({
  'that is too short': 'short',
  'nobody has': `tk_live_${'x'.repeat(40)}`,
}))
  check(`init with a key ${title} is refused`, async (t) => {
    assertError(t, await init({}, key), 401, invalidKey)
  })
check('init with another scheme than Bearer is refused', async (t) => {
  const { apiKey, id } = await creator()
  const body = { creatorId: id, originUrl: 'http://localhost' }
  const headers = { authorization: `Basic ${apiKey}` }
  assertError(t, await call('POST', '/sdk/init', { body, headers }), 401, invalidKey)
})
check('init for a creator that does not exist is refused', async (t) => {
  assertError(t, await init({ creatorId: '00000000-0000-4000-8000-000000000000' }), 404, 'Creator not found')
})
check('init for another creator than the owner of the key is refused', async (t) => {
  assertError(t, await init({ creatorId: (await registerCreator()).id }), 404, 'Creator not found')
})

const made = once(() => tip())
checkFields(check, 'tip answers', async () => (await made()).body, {
  success: shape.is(true),
  intentId: shape.matches(/^pi_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  status: shape.is('requires_action'),
})
check('tip without a session token is refused', async (t) => {
  const { id } = await creator()
  const body = { creatorId: id, amount: 4, inputTokenMint: usdc, sourceWalletAddress: freshWallet() }
  t.is((await call('POST', '/sdk/tip', { body })).status, 401)
})
check('tip with an API key in place of a session token is refused', async (t) => {
  t.is((await tip({}, (await creator()).apiKey)).status, 401)
})
check('tip with an unknown session token is refused', async (t) => {
  t.is((await tip({}, 'sdk_sess_00000000-0000-4000-8000-000000000000')).status, 401)
})
for (const field of ['creatorId', 'amount', 'inputTokenMint', 'sourceWalletAddress'])
  check(`tip without ${field} is refused`, async (t) => {
    const { status, body } = await tip({ [field]: undefined })
    t.is(status, 400)
    t.is(body['success'], false)
  })
check('the amount of tip is in USD', async (t) => {
  const token = String((await init()).body['sessionToken'])
  const { body } = await tip({ amount: 3, inputTokenMint: sol }, token)
  const bySession = await call('GET', `/sdk/intents/${body['intentId']}`, { bearer: token })
  t.is(at(bySession.body, 'quote', 'amountUsd'), 3)
})

check('events without creatorId are refused', async (t) => {
  assertError(
    t,
    await call('GET', '/sdk/events', { bearer: (await creator()).apiKey }),
    400,
    'creatorId is required',
  )
})
check('events without a key are refused', async (t) => {
  assertError(t, await call('GET', `/sdk/events?creatorId=${(await creator()).id}`), 401, invalidKey)
})
check('events with an unknown key are refused', async (t) => {
  assertError(t, await events({}, `tk_live_${'x'.repeat(40)}`), 401, invalidKey)
})
check('events of a creator without tips are an empty list', async (t) => {
  const { status, body } = await events()
  t.is(status, 200)
  t.is(body['success'], true)
  t.true(Array.isArray(body['events']))
})

/** Two tips of an SDK session and a direct one, one after the other. */
const paid = once(async () => {
  const supporter = await fundedSupporter()
  const { wallet, id, apiKey, cookie } = await (async () => {
    const person = await registerCreator()
    const key = await call('POST', '/creators/api-keys', { cookie: person.cookie, body: { label: 'events' } })
    return { ...person, apiKey: String(key.body['apiKey']) }
  })()
  const read = async (since?: string): Promise<Json[]> => {
    const search = new URLSearchParams({ creatorId: id, ...(since === undefined ? {} : { since }) })
    return (await call('GET', `/sdk/events?${search}`, { bearer: apiKey })).body['events'] as Json[]
  }
  const give = async (
    inputTokenMint: string,
    amount: number,
    tipAmount: number,
    tokenSymbol: string,
  ): Promise<Json> => {
    const intentBody = { creatorId: id, amount, inputTokenMint, sourceWalletAddress: supporter.wallet }
    const intent = await call('POST', '/payments/intent', { body: intentBody })
    const txSignature = await supporter.signAndSubmit(String(intent.body['transaction']))
    const claim = {
      creatorWallet: wallet,
      tipAmount,
      senderWallet: supporter.wallet,
      txSignature,
      tokenSymbol,
    }
    await call('POST', '/chain/tips/create', { body: claim })
    return until('an event', 30, async () =>
      (await read()).find((event) => event['txSignature'] === txSignature),
    )
  }
  const first = await give(usdc, 4, 4_000_000, 'USDC')
  const second = await give(sol, 0.5, 500_000_000, 'SOL')
  return { supporter, first, second, read, cookie, wallet, id, apiKey }
})

checkFields(checkWithStandIns, 'the event of a USDC tip has', async () => (await paid()).first, {
  eventId: shape.isText,
  type: shape.is('tip_completed'),
  amountUsdc: shape.is(4),
  amountRaw: shape.is(4_000_000),
  tokenSymbol: shape.is('USDC'),
  sender: shape.isWallet,
  timestamp: shape.isTimestamp,
  txSignature: shape.isText,
})
checkFields(checkWithStandIns, 'the event of a SOL tip has', async () => (await paid()).second, {
  amountUsdc: shape.is(0),
  amountRaw: shape.is(500_000_000),
  tokenSymbol: shape.is('SOL'),
})
checkWithStandIns('eventId equals txSignature', async (t) => {
  const { first } = await paid()
  t.is(first['eventId'], first['txSignature'])
})
checkWithStandIns('the sender of an event is the supporter', async (t) => {
  const { first, supporter } = await paid()
  t.is(first['sender'], supporter.wallet)
})
checkWithStandIns('events are ordered newest first', async (t) => {
  const { read, first, second } = await paid()
  t.deepEqual(
    (await read()).map(({ eventId }) => eventId),
    [second['eventId'], first['eventId']],
  )
})
checkWithStandIns('since answers only what is strictly later', async (t) => {
  const { read, first, second } = await paid()
  t.deepEqual(
    (await read(String(first['timestamp']))).map(({ eventId }) => eventId),
    [second['eventId']],
  )
  t.deepEqual(await read(String(second['timestamp'])), [])
})
checkWithStandIns('pending tips are no events', async (t) => {
  const { read, wallet, supporter } = await paid()
  const txSignature = await supporter.submitFailing()
  const claim = { creatorWallet: wallet, tipAmount: 1, senderWallet: supporter.wallet, txSignature }
  await call('POST', '/chain/tips/create', { body: claim })
  t.false((await read()).some((event) => event['txSignature'] === txSignature))
})
checkWithStandIns('a key answers no events of another creator', async (t) => {
  const { id } = await paid()
  const { body } = await events({ creatorId: id })
  t.deepEqual(body['events'], [])
})
