import { createHash, randomUUID } from 'node:crypto'
import test from 'ava'
import { idempotent } from '../../src/http/idempotency.js'
import { createIntent } from '../../src/intents/create-intent.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { TokenPrices } from '../../src/market/token-prices.js'
import {
  deleteExpiredKeys,
  renewLease,
  storeAnswer,
  takeKey,
} from '../../src/platform/database/idempotency-keys.js'
import { createClient, type Request } from '../helpers/http/client.js'
import { as } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

// The chain creates no blocks, so no intent passes its last valid block height on a slow machine.
const world = useWorld(test, { chain: true, slotMs: 0 })
const usdc = tokenBySymbol('USDC')?.mint ?? ''

interface IntentBody {
  readonly success: true
  readonly intentId: string
  readonly lastValidBlockHeight: number
}

let wallets = 0
/** A valid request with a source wallet that no other test uses. */
function freshRequest() {
  wallets += 1
  const source = Buffer.alloc(32, 9)
  source.writeUInt32BE(wallets)
  return {
    creatorId: encodeBase58(Buffer.alloc(32, 201)),
    amount: 5,
    inputTokenMint: usdc,
    sourceWalletAddress: encodeBase58(source),
  }
}

function send(body: unknown, key: string, request: Request = world().request, address?: string) {
  const headers = {
    'idempotency-key': key,
    ...(address === undefined ? {} : { 'x-forwarded-for': address }),
  }
  return request<IntentBody>('POST', '/payments/intent', { body, headers })
}

/** The answer as `status error`. */
async function refusal(body: unknown, key: string): Promise<string> {
  const answer = await send(body, key)
  return `${answer.status} ${(answer.body as unknown as { error?: string }).error}`
}

async function countIntents({ sourceWalletAddress }: { sourceWalletAddress: string }): Promise<number> {
  return (await world().db('payment_intents').where('source_wallet', sourceWalletAddress)).length
}

/** The hash under which the app stores a key of a caller on this machine. */
function keyHash(key: string): Buffer {
  return createHash('sha256').update(`/payments/intent 127.0.0.1\n${key}`).digest()
}

test('the same request under the same key gets the same answer with Idempotency-Hit', async (t) => {
  const [body, key] = [freshRequest(), randomUUID()]
  const first = await send(body, key)
  t.is(first.status, 200)
  t.is(first.headers['idempotency-hit'], undefined)
  const second = await send(body, key)
  t.is(second.status, 200)
  t.is(second.headers['idempotency-hit'], 'true')
  t.is(JSON.stringify(second.body), JSON.stringify(first.body))
  t.is(await countIntents(body), 1)
})

test('field order, null and unknown fields do not make a different request', async (t) => {
  const [body, key] = [freshRequest(), randomUUID()]
  const first = await send(body, key)
  const turned = Object.fromEntries(Object.entries(body).reverse())
  const second = await send({ unknown: [1], tokenSymbol: null, ...turned }, key)
  t.is(second.body.intentId, first.body.intentId)
})

test('a different request under the same key is refused', async (t) => {
  const [body, key] = [freshRequest(), randomUUID()]
  await send(body, key)
  t.is(await refusal({ ...body, amount: 6 }, key), '422 Idempotency-Key was used with another request')
  t.is(await countIntents(body), 1)
})

test('without a key every request creates an intent', async (t) => {
  const body = freshRequest()
  for (let i = 0; i < 2; i++)
    t.is((await world().request('POST', '/payments/intent', { body })).status as number, 200)
  t.is(await countIntents(body), 2)
})

test('a key has 1 to 255 printable characters', async (t) => {
  for (const key of ['', 'x'.repeat(256), 'a\tb', 'caf\u00e9'])
    t.is(await refusal(freshRequest(), key), '400 Invalid Idempotency-Key', JSON.stringify(key))
  for (const key of [`!${'x'.repeat(253)}~`, 'a b', '7'])
    t.is((await send(freshRequest(), key)).status, 200, key)
})

test('the same key from another client address is independent', async (t) => {
  const { url } = await startApp(t, { ...world().env, TRUST_PROXY: 'true' })
  const request = await createClient(url)
  const [body, key] = [freshRequest(), randomUUID()]
  const first = await send(body, key, request, '192.0.2.1')
  const other = await send(body, key, request, '192.0.2.2')
  t.not(other.body.intentId, first.body.intentId)
  t.is((await send(body, key, request, '192.0.2.1')).body.intentId, first.body.intentId)
})

test('a failure is not stored, and the key can be used again', async (t) => {
  const [body, key] = [freshRequest(), randomUUID()]
  const nobody = { ...body, creatorId: '00000000-0000-4000-8000-000000000000' }
  t.is(await refusal(nobody, key), '404 Creator not found')
  t.is(await refusal(nobody, key), '404 Creator not found')
  t.is((await send(body, key)).status, 200)
})

test('a hundred concurrent equal requests create one intent; the others get it or a 409', async (t) => {
  const [body, key] = [freshRequest(), randomUUID()]
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(body, key)))
  const served = answers.filter(({ status }) => status === 200)
  t.is(new Set(served.map(({ body: { intentId } }) => intentId)).size, 1)
  t.is(served.filter(({ headers }) => headers['idempotency-hit'] === undefined).length, 1)
  for (const { status, body: refused } of answers)
    if (status !== 200) t.like(refused, { error: 'Request in progress', code: 'request_in_progress' })
  t.is(await countIntents(body), 1)
  t.log(`${served.length} answered, ${100 - served.length} in progress`)
})

test('of a hundred concurrent requests with different bodies one succeeds, and the others are refused', async (t) => {
  const key = randomUUID()
  const bodies = Array.from({ length: 100 }, (_, i) => ({ ...freshRequest(), amount: 5 + i / 100 }))
  const answers = await Promise.all(bodies.map((body) => send(body, key)))
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  t.is(answers.filter(({ status }) => status === 422).length, 99)
})

test('a crashed request blocks its key until the lease expires, and cannot store its answer afterwards', async (t) => {
  const { db } = world()
  const [body, key] = [freshRequest(), randomUUID()]
  const first = await send(body, key)
  const row = db('idempotency_keys').where('key_hash', keyHash(key))
  const { request_hash: requestHash, holder } = await row.clone().first()
  await row.clone().update({ response: null, lease_until: new Date(Date.now() + 60_000) })
  t.is(await refusal(body, key), '409 Request in progress')
  await row.clone().update({ lease_until: new Date(Date.now() - 1) })
  const second = await send(body, key)
  t.is(second.status, 200)
  t.is(second.headers['idempotency-hit'], undefined)
  t.not(second.body.intentId, first.body.intentId)
  await storeAnswer(db, { keyHash: keyHash(key), requestHash, holder }, first.body)
  t.is((await send(body, key)).body.intentId, second.body.intentId)
})

test('a key in progress answers Retry-After, and its lease of ten seconds is renewed while the work runs', async (t) => {
  const { db, services } = world()
  const key = randomUUID()
  const row = () => db('idempotency_keys').where('key_hash', scopedHash(key)).first()
  const work = new AbortController()
  t.teardown(() => work.abort())
  const keyed = idempotent(
    { db: services.db, scope: () => 'test', stillServes: async () => true },
    () => new Promise<object>((done) => work.signal.addEventListener('abort', () => done({ done: true }))),
  )
  const running = keyed({}, { headers: { 'idempotency-key': key }, set: () => undefined } as never)
  await until('the key is taken', async () => (await row()) !== undefined)
  const { created_at: takenAt, lease_until: firstLease } = await row()
  const leaseMs = firstLease.getTime() - takenAt.getTime()
  // A renewal may come before this test reads the row.
  t.true(leaseMs > 9000 && leaseMs < 30_000, `${leaseMs} ms`)
  await until('the lease is renewed', async () => (await row()).lease_until > firstLease)
  work.abort()
  t.deepEqual(await running, { done: true })

  const [body, crashed] = [freshRequest(), randomUUID()]
  await send(body, crashed)
  await db('idempotency_keys')
    .where('key_hash', keyHash(crashed))
    .update({ response: null, lease_until: new Date(Date.now() + 10_000) })
  const refused = await send(body, crashed)
  t.is(refused.status as number, 409)
  t.is(refused.headers['retry-after'], '3')
})

function scopedHash(key: string): Buffer {
  return createHash('sha256').update(`test\n${key}`).digest()
}

test('after a day a key can be used again, and expired keys are deleted', async (t) => {
  const { db } = world()
  const [body, key] = [freshRequest(), randomUUID()]
  const dayOld = new Date(Date.now() - 24 * 3600 * 1000 - 1000)
  const first = await send(body, key)
  await db('idempotency_keys').where('key_hash', keyHash(key)).update({ created_at: dayOld })
  const second = await send({ ...body, amount: 7 }, key)
  t.is(second.status, 200)
  t.not(second.body.intentId, first.body.intentId)

  const old = { keyHash: keyHash(randomUUID()), requestHash: keyHash('any'), holder: randomUUID() }
  t.true(await takeKey(db, old))
  await db('idempotency_keys').where('key_hash', old.keyHash).update({ created_at: dayOld })
  t.is(await deleteExpiredKeys(as('clock', world().services).db), 1)
  t.is((await db('idempotency_keys').where('key_hash', keyHash(key))).length, 1)
})

test('a request that lost its key while it was paused creates nothing', async (t) => {
  const { db, services } = world()
  const body = freshRequest()
  const prices = new TokenPrices(services)
  const key = keyHash(randomUUID())
  const requestOf = (holder: string) => ({ keyHash: key, requestHash: keyHash('same'), holder })
  const [paused, repeated] = [requestOf(randomUUID()), requestOf(randomUUID())]
  t.true(await takeKey(db, paused))
  await db('idempotency_keys')
    .where('key_hash', key)
    .update({ lease_until: new Date(0) })
  t.true(await takeKey(db, repeated))
  const create = (keyed: typeof paused) => createIntent(services, prices, body, { keyed })
  await t.throwsAsync(create(paused), { message: 'Request in progress' })
  t.is(await countIntents(body), 0)
  const answer = await create(repeated)
  t.is(await countIntents(body), 1)
  // The answer is stored by the same commit, so a repetition finds it although the process ends here.
  const { response } = await db('idempotency_keys').where('key_hash', key).first()
  t.is(response.intentId, answer.intentId)
  await t.throwsAsync(create(repeated), { message: 'Request in progress' })
  t.is(await countIntents(body), 1)
})

test('a request that hangs renews its lease for two minutes at most', async (t) => {
  const { db } = world()
  const hanging = { keyHash: keyHash(randomUUID()), requestHash: keyHash('any'), holder: randomUUID() }
  const row = () => db('idempotency_keys').where('key_hash', hanging.keyHash)
  t.true(await takeKey(db, hanging))
  t.true(await renewLease(db, hanging))
  await row().update({ created_at: new Date(Date.now() - 121_000), lease_until: new Date(0) })
  t.false(await renewLease(db, hanging))
  t.true(await takeKey(db, { ...hanging, holder: randomUUID() }), 'a repetition takes the key')
})

/** Slots for which a transaction can land. */
const lifeSlots = 150

// Serial tests run first: this one moves the chain on.
test.serial(
  'an intent past its last valid block height is replaced once under its idempotency key',
  async (t) => {
    const { request, services, sandbox } = world()
    const headers = { 'idempotency-key': randomUUID() }
    const body = {
      creatorId: encodeBase58(Buffer.alloc(32, 201)),
      amount: 5,
      inputTokenMint: tokenBySymbol('USDC')?.mint,
      sourceWalletAddress: encodeBase58(Buffer.alloc(32, 202)),
    }
    const send = () => request<IntentBody>('POST', '/payments/intent', { body, headers })

    const first = await send()
    const { intentId, lastValidBlockHeight } = first.body
    sandbox.chain.advance(lastValidBlockHeight - (await services.chain.blockHeight()))
    const last = await send()
    t.is(last.body.intentId, intentId, 'at its last valid height it can still land')

    sandbox.chain.advance(lifeSlots)
    const answers = await Promise.all(Array.from({ length: 20 }, send))
    const served = answers.filter(({ status }) => status === 200)
    const [created = '', ...others] = new Set(served.map((answer) => answer.body.intentId))
    t.not(created, '')
    t.not(created, intentId)
    t.deepEqual(others, [])
    const heights = served.map((answer) => answer.body.lastValidBlockHeight)
    t.true(Math.min(...heights) > lastValidBlockHeight, 'the new intent can land')
    for (const { status } of answers) t.true(status === 200 || status === 409, `${status}`)
    t.is(await countIntents(body), 2)
    const again = await send()
    t.is(again.body.intentId, created)
    t.is(again.headers['idempotency-hit'], 'true')
  },
)
