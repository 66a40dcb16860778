import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import { createFiatIntent as storeIntent } from '../../../src/fiat/intents/create-intent.js'
import { ExchangeRates } from '../../../src/market/exchange-rates.js'
import { takeKey } from '../../../src/platform/database/idempotency-keys.js'
import { advanceMonotonicClock } from '../../helpers/clock.js'
import { createClient } from '../../helpers/http/client.js'
import { follow } from '../../helpers/http/stream-reader.js'
import { registerCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  type FiatIntentBody,
  payFiatIntent,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder } from '../../helpers/make/sdk.js'
import { unusedWallet } from '../../helpers/make/supporter.js'
import { listTips } from '../../helpers/make/tips.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

async function requestIntent(body: unknown): Promise<string> {
  const answer = await world().request<FiatIntentBody & { error?: string }>('POST', '/payments/fiat/intent', {
    body,
  })
  const caching = answer.headers['cache-control']
  if (caching !== 'no-store') throw new Error(`Cache-Control: ${caching}`)
  return `${answer.status} ${answer.body.error ?? ''}`.trim()
}

test.afterEach.always(() => {
  world().fiat.fiatpay.reset()
  world().fiat.rates.reset()
})

test.serial('refusals have their exact texts and come in the documented order', async (t) => {
  const { user } = await registerCreator(world())
  const creatorId = user.id
  const required = '400 creatorId and amount are required'
  for (const body of [
    {},
    { creatorId },
    { amount: 5 },
    { creatorId: '', amount: 5 },
    { amount: 'x' },
    { creatorId, amount: null },
    { creatorId: null, amount: 5 },
    '{',
    '[]',
  ])
    t.is(await requestIntent(body), required, JSON.stringify(body))
  const wrong = '400 Invalid amount'
  for (const amount of ['5', -1, 0, 0.004, 10_000.01, true])
    t.is(await requestIntent({ creatorId: 'nobody', amount }), wrong, String(amount))
  t.is(await requestIntent('{"creatorId":"nobody","amount":1e400}'), wrong)
  for (const amountNgn of [99.99, 10_000_000.01, 0, -5, 'x'])
    t.is(await requestIntent({ creatorId: 'nobody', amount: 5, amountNgn }), wrong, String(amountNgn))
  for (const stranger of ['nobody', unusedWallet(), '@ada', crypto.randomUUID()])
    t.is(await requestIntent({ creatorId: stranger, amount: 5 }), '404 Creator not found')
  world().fiat.rates.set({ NGN: null })
  advanceMonotonicClock(16_000)
  t.is(await requestIntent({ creatorId, amount: 0.01 }), '503 Rate unavailable')
  world().fiat.rates.reset()
  advanceMonotonicClock(16_000)
  // 0.06 USD are NGN 96, 6,600 USD more than ten million.
  for (const amount of [0.06, 6600]) t.is(await requestIntent({ creatorId, amount }), wrong)
  t.is(await requestIntent({ creatorId, amount: 6600, amountNgn: 500 }), '200')
  t.is(await requestIntent({ creatorId, amount: 0.07 }), '200')
})

test.serial('a creator’s own limits apply to fiat tips too', async (t) => {
  const { user } = await registerCreator(world(), { minTipUsd: 5, maxTipUsd: 20 })
  for (const [amount, answer] of [
    [4.99, '400 Invalid amount'],
    [5, '200'],
    [20, '200'],
    [20.01, '400 Invalid amount'],
  ] as const)
    t.is(await requestIntent({ creatorId: user.id, amount }), answer)
})

test.serial('a refusal of the provider is 502 with its text, an outage 503; no tip is left', async (t) => {
  const { user } = await registerCreator(world())
  const { fiatpay } = world().fiat
  fiatpay.faults.setMode({ charges: 'down' })
  t.is(await requestIntent({ creatorId: user.id, amount: 5 }), '503 Service unavailable')
  fiatpay.faults.setMode({ charges: 'garbage' })
  t.is(await requestIntent({ creatorId: user.id, amount: 5 }), '503 Service unavailable')
  fiatpay.faults.setMode({ charges: 'ok' })
  fiatpay.faults.setFault({ refuseKey: true })
  t.is(await requestIntent({ creatorId: user.id, amount: 5 }), '503 Service unavailable')
  fiatpay.faults.setFault({})
  const refused = 'x@y.local'
  t.is(
    await requestIntent({ creatorId: user.id, amount: 5, payerEmail: refused }),
    '502 Invalid Email Address Passed',
  )
  t.deepEqual(await listTips(world(), user.id), [])
})

test.serial('a request repeated under its Idempotency-Key opens one charge', async (t) => {
  const { user } = await registerCreator(world())
  const options = { body: { creatorId: user.id, amount: 5 }, headers: { 'idempotency-key': 'one' } }
  const first = await world().request<FiatIntentBody>('POST', '/payments/fiat/intent', options)
  const again = await world().request<FiatIntentBody>('POST', '/payments/fiat/intent', options)
  t.deepEqual(again.body, first.body)
  t.is(again.headers['idempotency-hit'], 'true')
  t.is((await listTips(world(), user.id)).length, 1)
  t.is(world().fiat.fiatpay.charges.all().length, 1)
})

test.serial('one address has at most twenty open intents for a creator, also at once', async (t) => {
  const one = await registerCreator(world())
  const other = await registerCreator(world())
  const env = { ...world().env, RATE_LIMIT_FACTOR: '1', TRUST_PROXY: 'true', RATE_INTENTS: '1000' }
  const request = await createClient((await startApp(t, env)).url)
  const ask = (creatorId: string, address: string) =>
    request<FiatIntentBody & { error?: string }>('POST', '/payments/fiat/intent', {
      body: { creatorId, amount: 5 },
      headers: { 'x-forwarded-for': address },
    })
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask(one.user.id, '192.0.2.1')))
  const accepted = answers.filter(({ status }) => status === 200)
  t.is(accepted.length, 20)
  t.is(answers.filter(({ status }) => status === 429).length, 10)
  const crowded = await ask(one.user.id, '192.0.2.1')
  t.is(`${crowded.status} ${crowded.body.error}`, '429 Too many requests')
  t.regex(crowded.headers['retry-after'] ?? '', /^\d+$/)
  t.is((await ask(one.user.id, '192.0.2.2')).status, 200)
  t.is((await ask(other.user.id, '192.0.2.1')).status, 200)
  const { intentId = '' } = accepted[0]?.body ?? {}
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.is((await ask(one.user.id, '192.0.2.1')).status, 200)
  t.is((await ask(one.user.id, '192.0.2.1')).status, 429)
})

test.serial('a naira intent of a request that lost its key while it was paused is not stored', async (t) => {
  const { db, services } = world()
  const { user } = await registerCreator(world())
  const key = randomBytes(32)
  const requestOf = () => ({ keyHash: key, requestHash: key, holder: randomUUID() })
  const [paused, repeated] = [requestOf(), requestOf()]
  t.true(await takeKey(db, paused))
  await db('idempotency_keys')
    .where('key_hash', key)
    .update({ lease_until: new Date(0) })
  t.true(await takeKey(db, repeated))
  const rates = new ExchangeRates(services)
  const create = (keyed: typeof paused) =>
    storeIntent(
      services,
      rates,
      { creatorId: user.id, amount: 10, isAnonymous: false },
      {
        network: '192.0.2.77',
        keyed,
      },
    )
  await t.throwsAsync(create(paused), { message: 'Request in progress' })
  const count = async () => (await db('fiat_intents').where({ user_id: user.id })).length
  t.is(await count(), 0)
  const { intentId } = await create(repeated)
  t.is(await count(), 1)
  t.is((await db('idempotency_keys').where('key_hash', key).first()).response.intentId, intentId)
})

test.serial('an intent charges the quoted rate', async (t) => {
  const { user } = await registerCreator(world())
  const quote = await world().request<Record<string, unknown>>('GET', '/payments/fiat/rate?amount=12.34')
  t.is(quote.headers['cache-control'], 'no-store')
  t.like(quote.body, {
    success: true,
    base: 'USD',
    currency: 'NGN',
    rate: 1600,
    amountUsd: 12.34,
    platformFee: 0.62,
    finalAmountUsd: 11.72,
    amountNgn: 18_752,
  })
  t.like((await world().request<object>('GET', '/payments/fiat/rate')).body, {
    amountUsd: 1,
    amountNgn: 1520,
  })
  for (const amount of ['0', 'x', '-1', '', '1e3', '10000.01'])
    t.is((await world().request('GET', `/payments/fiat/rate?amount=${amount}`)).body.error, 'Invalid amount')
  const { intentId } = await createFiatIntent(world(), { creatorId: user.id, amount: 12.34 })
  t.is(world().fiat.fiatpay.charges.find(intentId)?.amountKobo, 1_875_200)
})

interface EventsBody {
  readonly events: readonly { readonly eventId: string; readonly timestamp: string }[]
}

test('a completed fiat tip is an SDK event, a pending one is not, and `since` skips none', async (t) => {
  const creator = await registerEmbedder(world())
  const path = `/sdk/events?creatorId=${creator.id}`
  const events = async (query = '') =>
    (await world().request<EventsBody>('GET', `${path}${query}`, { bearer: creator.apiKey })).body.events
  const tip = { creatorId: creator.id, amount: 12.34, senderName: 'Bola' }
  const { intentId } = await createFiatIntent(world(), tip)
  t.deepEqual(await events(), [])
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const [event] = await events()
  t.like(event, {
    eventId: intentId,
    txSignature: intentId,
    type: 'tip_completed',
    tokenSymbol: 'FIAT',
    amountUsdc: 0,
    amountRaw: 1234,
    receivedAmount: 11.72,
    sender: 'Bola',
  })
  const second = await createFiatIntent(world(), tip)
  payFiatIntent(world(), second.intentId)
  await settleIntentNow(world(), second.intentId)
  const later = await events(`&since=${event?.timestamp}`)
  t.deepEqual(
    later.map(({ eventId }) => eventId),
    [second.intentId],
  )
})

test('a stream reader that reconnects gets the fiat tips that it missed', async (t) => {
  const creator = await registerEmbedder(world())
  const payTip = async (memo: string): Promise<void> => {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.id, amount: 5, memo })
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
  }
  const first = await follow(t, world().url, creator.wallet)
  await payTip('one')
  await until('the first event', () => first.tips.length === 1)
  first.close()
  await payTip('two')
  const again = await follow(t, world().url, creator.wallet, String(first.tips[0]?.id))
  await until('the missed event', () => again.tips.length === 1)
  t.is(again.tips[0]?.data['message'], 'two')
})
