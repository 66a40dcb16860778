import test from 'ava'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { ageSession, createSession, registerEmbedder, sdkTipBody } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, fiat: true })

interface Listed {
  readonly intents: readonly {
    readonly intentId: string
    readonly status: string
    readonly eventId: string | null
    readonly statusUrl: string
  }[]
}

async function start() {
  const embedder = await registerEmbedder(world())
  const { sessionToken: bearer } = await createSession(world(), embedder)
  const ask = (options: { readonly bearer?: string; readonly creatorId?: string } = {}) =>
    createFiatIntent(
      world(),
      { creatorId: options.creatorId ?? embedder.id, amount: 10, senderName: 'Ngozi' },
      options.bearer,
    )
  const listed = async () => (await world().request<Listed>('GET', '/sdk/intents', { bearer })).body.intents
  const tip = () => world().request('POST', '/sdk/tip', { bearer, body: sdkTipBody(embedder) })
  return { embedder, bearer, ask, listed, tip }
}

test('a naira tip of a session is listed with its eventId and ends the session when it is paid', async (t) => {
  const { embedder, bearer, ask, listed, tip } = await start()
  t.is((await tip()).status, 200)
  const { intentId, expiresAt } = await ask({ bearer })
  const open = {
    intentId,
    status: 'requires_action',
    amountUsd: 10,
    amountNgn: 15_200,
    expiresAt,
    eventId: null,
  }
  const [{ statusUrl, ...first } = { statusUrl: '' }] = await listed()
  t.deepEqual(first, open)
  t.regex(statusUrl, /\/t\/n[\w-]{43}$/)
  t.is((await listed()).length, 2)
  t.is((await tip()).status, 200, 'the session is still open')
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.deepEqual(
    (await listed()).find((one) => one.intentId === intentId),
    { ...open, status: 'confirmed', eventId: intentId, statusUrl },
  )
  const events = await world().request<{ events: { eventId: string }[] }>(
    'GET',
    `/sdk/events?creatorId=${embedder.id}`,
    { bearer: embedder.apiKey },
  )
  t.deepEqual(
    events.body.events.map(({ eventId }) => eventId),
    [intentId],
  )
  const after = await tip()
  t.is(after.status, 401)
  t.like(after.body, { code: 'session_consumed' })
})

test('naira intents count towards the five of a session, and the sixth is accepted without it', async (t) => {
  const { bearer, ask, listed, tip } = await start()
  for (let nth = 0; nth < 4; nth++) await ask({ bearer })
  t.is((await tip()).status, 200)
  const sixth = await tip()
  t.is(sixth.status, 401)
  t.like(sixth.body, { code: 'session_exhausted' })
  const { intentId } = await ask({ bearer })
  t.is((await listed()).length, 5)
  t.false((await listed()).some((one) => one.intentId === intentId))
})

test('a bad, expired or foreign token at the naira intent is ignored', async (t) => {
  const { bearer, ask, listed } = await start()
  const other = await start()
  await ask({ bearer: 'sdk_sess_none' })
  await ask({ bearer: other.embedder.apiKey })
  await ask({ bearer: other.bearer })
  t.deepEqual(await other.listed(), [])
  await ageSession(world(), bearer, 20)
  await ask({ bearer })
  t.deepEqual(await listed(), [])
})

test('parallel naira intents never exceed the five of a session', async (t) => {
  const { bearer, ask, listed } = await start()
  await Promise.all(Array.from({ length: 9 }, () => ask({ bearer })))
  t.is((await listed()).length, 5)
})
