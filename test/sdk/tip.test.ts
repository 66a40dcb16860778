import { PublicKey } from '@solana/web3.js'
import test from 'ava'
import { replaceSites } from '../../src/creators/sites.js'
import { type Token, tokenBySymbol } from '../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { tokenTransfer } from '../helpers/make/instructions.js'
import {
  ageSession,
  createSession,
  type Embedder,
  registerEmbedder,
  sdkTipBody,
} from '../helpers/make/sdk.js'
import { createSupporter, unusedSignature, unusedWallet } from '../helpers/make/supporter.js'
import { recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true })
const usdcMint = tokenBySymbol('USDC')?.mint ?? ''

interface IntentBody {
  readonly intentId: string
  readonly status: string
  readonly transaction: string
  readonly quote: { readonly outAmount: string; readonly amountUsd: number; readonly tokenSymbol: string }
  readonly signature: string | null
  readonly outcome: string | null
  readonly receivedAmount: number | null
  readonly statusUrl: string
}

function tip(bearer: string | undefined, body: unknown) {
  return world().request<IntentBody & { error: string; code: string }>('POST', '/sdk/tip', {
    body,
    ...(bearer === undefined ? {} : { bearer }),
  })
}

function intent(bearer: string, intentId: string) {
  return world().request<IntentBody & { error: string; code: string }>('GET', `/sdk/intents/${intentId}`, {
    bearer,
  })
}

async function startSession(): Promise<{ embedder: Embedder; token: string }> {
  const embedder = await registerEmbedder(world())
  const { sessionToken } = await createSession(world(), embedder)
  return { embedder, token: sessionToken }
}

/** Creates an intent and lands its payment on the chain, without recording the tip. */
async function pay(token: string, embedder: Embedder, symbol = 'SOL') {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const inputTokenMint = tokenBySymbol(symbol)?.mint
  const { body } = await tip(
    token,
    sdkTipBody(embedder, { sourceWalletAddress: supporter.wallet, inputTokenMint }),
  )
  return { intentId: body.intentId, supporter, signature: supporter.pay(body.transaction) }
}

test('creatorId must mean the session’s creator, in any form that init accepts', async (t) => {
  const { embedder, token } = await startSession()
  const other = await registerEmbedder(world())
  for (const creatorId of [embedder.wallet, `auth_${embedder.id}`])
    t.is((await tip(token, sdkTipBody(embedder, { creatorId }))).status, 200)
  for (const creatorId of [other.id, other.wallet, unusedWallet(), 'nobody', '@nobody']) {
    const answer = await tip(token, sdkTipBody(embedder, { creatorId }))
    t.is(answer.status, 403, creatorId)
    t.is(answer.body.error, 'Session belongs to another creator')
  }
})

test('only a session token is accepted, and it is checked before the body', async (t) => {
  const { embedder, token } = await startSession()
  const { apiKey, session, accessToken } = embedder
  const body = sdkTipBody(embedder)
  const path = `/sdk/tip?sessionToken=${token}`
  for (const options of [
    {},
    { body },
    { body, session },
    { body, session: token },
    { body, bearer: accessToken },
    { body, bearer: apiKey },
    { body, bearer: token.slice(0, -1) },
    { body, bearer: token.toUpperCase() },
    { body, bearer: token.replace('sdk_sess_', '') },
    { body, bearer: `sdk_sess_${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}` },
    { body: { ...body, sessionToken: token } },
  ]) {
    const answer = await world().request('POST', path, options)
    t.is(answer.status, 401, JSON.stringify(options).slice(0, 80))
    t.is(answer.body.error, 'Missing or invalid session token')
    const expected =
      'bearer' in options && options.bearer !== undefined ? 'session_unknown' : 'invalid_session_token'
    t.is(answer.body.code, expected)
  }
  t.is((await world().request('GET', `/sdk/session`, { bearer: apiKey })).status, 401)
})

test('of a hundred concurrent requests in one session exactly five create an intent', async (t) => {
  const { embedder, token } = await startSession()
  const answers = await Promise.all(Array.from({ length: 100 }, () => tip(token, sdkTipBody(embedder))))
  const made = answers.filter(({ status }) => status === 200)
  t.is(made.length, 5)
  const refusals = answers.filter(({ status }) => status !== 200)
  t.true(
    refusals.every(({ status, body }) => status === 401 && body.error === 'Missing or invalid session token'),
    '14.6 one text',
  )
  const [{ count } = {}] = await world()
    .db('payment_intents')
    .whereNotNull('sdk_session_id')
    .count()
    .whereIn(
      'id',
      made.map(({ body }) => body.intentId),
    )
  t.is(Number(count), 5)
  t.true(refusals.every(({ body }) => body.code === 'session_exhausted'))
  t.is((await tip(token, sdkTipBody(embedder))).body.code, 'session_exhausted')
  for (const { body } of made) t.is((await intent(token, body.intentId)).body.status, 'requires_action')
  t.is((await world().request('GET', '/sdk/session', { bearer: token })).status, 200)
})

test('an expired session creates no intents and can be read for another hour', async (t) => {
  const { embedder, token } = await startSession()
  const { intentId } = (await tip(token, sdkTipBody(embedder))).body
  await ageSession(world(), token, 16)
  t.is((await tip(token, sdkTipBody(embedder))).body.code, 'session_expired')
  t.is((await world().request('POST', '/sdk/handoff', { bearer: token })).body.code, 'session_expired')
  t.is((await intent(token, intentId)).status, 200)
  t.is((await world().request('GET', '/sdk/session', { bearer: token })).status, 200)
  await ageSession(world(), token, 60)
  t.is((await intent(token, intentId)).status, 401)
  t.is((await world().request('GET', '/sdk/session', { bearer: token })).body.code, 'session_expired')
})

test('a confirmed tip consumes the session, which can then only be read', async (t) => {
  const { embedder, token } = await startSession()
  const untouched = (await createSession(world(), embedder)).sessionToken
  const { intentId, supporter, signature } = await pay(token, embedder)
  t.is((await intent(token, intentId)).body.status, 'requires_action')
  const claim = {
    creatorWallet: embedder.wallet,
    senderWallet: supporter.wallet,
    tipAmount: 33_333_333,
    txSignature: signature,
    intentId,
  }
  await recordTip(world(), claim)
  t.like((await intent(token, intentId)).body, { status: 'submitted', signature, outcome: null })
  const batch = createVerifierBatch(as('verifier', world().services))
  await runBatchUntil(batch, 'the tip is confirmed', async () => {
    const { body } = await intent(token, intentId)
    return body.status === 'confirmed'
  })
  t.like((await intent(token, intentId)).body, { status: 'confirmed', signature, outcome: null })
  t.is((await tip(token, sdkTipBody(embedder))).body.code, 'session_consumed')
  t.is((await world().request('POST', '/sdk/handoff', { bearer: token })).body.code, 'session_consumed')
  t.is((await world().request('GET', '/sdk/session', { bearer: token })).status, 200)
  t.is((await tip(untouched, sdkTipBody(embedder))).status, 200)

  const renew = (bearer: string) =>
    world().request<IntentBody & { sessionToken: string; embedUrl: string; error: string; code: string }>(
      'POST',
      '/sdk/session/renew',
      { bearer },
    )
  t.is((await renew(untouched)).body.code, 'session_unpaid', 'a session without a tip is not prolonged')
  const renewed = await renew(token)
  t.is(renewed.status, 200)
  t.is(renewed.headers['cache-control'], 'no-store')
  const { sessionToken, embedUrl } = renewed.body
  t.true(embedUrl.endsWith(`?theme=dark#${sessionToken}`))
  t.is((await tip(sessionToken, sdkTipBody(embedder))).status, 200)
  t.is((await renew(sessionToken)).body.code, 'session_unpaid', 'each one needs a tip of its own')
  await replaceSites(world().services, embedder.id, [])
  t.is((await renew(token)).body.error, 'Unauthorized Origin', 'the site is no longer the creator’s')
  await replaceSites(world().services, embedder.id, ['shop.example'])
  await ageSession(world(), token, 76)
  t.is((await renew(token)).body.code, 'session_expired')
})

/** Pays this part of an intent in USDC, with the intent's reference key. */
async function payPart(token: string, embedder: Embedder, units: bigint) {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const fields = { amount: 100, sourceWalletAddress: supporter.wallet, inputTokenMint: usdcMint }
  const { body } = await tip(token, sdkTipBody(embedder, fields))
  const { reference_key: key } = await world().db('payment_intents').where({ id: body.intentId }).first()
  const part = tokenTransfer(tokenBySymbol('USDC') as Token, supporter.wallet, embedder.wallet, units)
  part.at(-1)?.keys.push({ pubkey: new PublicKey(key), isSigner: false, isWritable: false })
  const signature = supporter.send(part)
  await recordTip(world(), {
    creatorWallet: embedder.wallet,
    senderWallet: supporter.wallet,
    tipAmount: 100_000_000,
    tokenSymbol: 'USDC',
    txSignature: signature,
    intentId: body.intentId,
    message: 'hello',
  })
  return { body, supporter, signature }
}

async function untilTipConfirmed(signature: string): Promise<void> {
  const row = () => world().db('tips').where({ id: signature }).first('status')
  const batch = createVerifierBatch(as('verifier', world().services))
  await runBatchUntil(batch, 'confirmed', async () => (await row()).status === 'confirmed')
}

test('an underpaid intent fails, is a tip of what arrived, and does not consume the session', async (t) => {
  const { embedder, token } = await startSession()
  const { body, supporter, signature } = await payPart(token, embedder, 1n)
  const { intentId } = body
  await untilTipConfirmed(signature)
  const underpaid = { status: 'failed', outcome: 'underpaid', receivedAmount: 0.000001, signature }
  t.like((await intent(token, intentId)).body, underpaid)
  const list = await world().request<{ intents: IntentBody[] }>('GET', '/sdk/intents', { bearer: token })
  t.like(list.body.intents[0], underpaid)
  const row = await world().db('tips').where({ id: signature }).first()
  t.like(row, { intent_id: null, received_raw: '1', display_raw: '1', message: 'hello' })
  t.is((await tip(token, sdkTipBody(embedder))).status, 200, 'the session still tips')
  t.truthy((await world().db('payment_intents').where({ id: intentId }).first()).due_at, 'still searched for')

  const paid = supporter.pay(body.transaction)
  await recordTip(world(), {
    creatorWallet: embedder.wallet,
    senderWallet: supporter.wallet,
    tipAmount: 100_000_000,
    tokenSymbol: 'USDC',
    txSignature: paid,
    intentId,
  })
  await untilTipConfirmed(paid)
  const confirmed = { status: 'confirmed', outcome: null, receivedAmount: 98, signature: paid }
  t.like((await intent(token, intentId)).body, confirmed)
  t.is((await tip(token, sdkTipBody(embedder))).status, 401)
})

test('the page of an underpaid intent shows what its creator got of a transaction that paid another one more', async (t) => {
  const { embedder, token } = await startSession()
  const { body, signature } = await payPart(token, embedder, 1n)
  await untilTipConfirmed(signature)
  const other = await registerEmbedder(world())
  await world()
    .db('tips')
    .where({ id: signature })
    .update({
      recipient_party: world().db('parties').where({ user_id: other.id }).select('id'),
      received_raw: 99_990_000,
      further_credits: JSON.stringify({ [embedder.wallet]: '10000' }),
    })
  const { statusUrl } = (await intent(token, body.intentId)).body
  const page = await (await fetch(statusUrl.replace(publicUrl, world().url))).text()
  t.true(page.includes('0.01 USDC'))
  t.false(page.includes('99.99'))
})

test('an intent paid with exactly what it promised is confirmed, with a micro less it is underpaid', async (t) => {
  const { embedder, token } = await startSession()
  const short = await payPart(token, embedder, 97_999_999n)
  await untilTipConfirmed(short.signature)
  t.like((await intent(token, short.body.intentId)).body, { outcome: 'underpaid', receivedAmount: 97.999999 })
  const exact = await payPart(token, embedder, 98_000_000n)
  await untilTipConfirmed(exact.signature)
  const paid = { status: 'confirmed', outcome: null, receivedAmount: 98 }
  t.like((await intent(token, exact.body.intentId)).body, paid)
})

test('an intent fails with its payment, and stays open when the claimed payment is of another intent', async (t) => {
  const { embedder, token } = await startSession()
  const made = await Promise.all([tip(token, sdkTipBody(embedder)), tip(token, sdkTipBody(embedder))])
  const [failing = '', foreign = ''] = made.map(({ body }) => body.intentId)
  const other = await registerEmbedder(world())
  const theirs = await pay((await createSession(world(), other)).sessionToken, other)
  const failed = unusedSignature()
  const claim = { creatorWallet: embedder.wallet, senderWallet: unusedWallet(), tipAmount: 5 }
  await recordTip(world(), { ...claim, txSignature: failed, intentId: failing })
  await recordTip(world(), { ...claim, txSignature: theirs.signature, intentId: foreign })
  await world().db('tips').where({ id: failed }).update({ outcome: 'tx_failed', due_at: null })
  t.like((await intent(token, failing)).body, { status: 'failed', signature: failed, outcome: 'tx_failed' })
  const batch = createVerifierBatch(as('verifier', world().services))
  await runBatchUntil(batch, 'their tip is confirmed', async () => {
    const tipRow = await world().db('tips').where({ id: theirs.signature }).first('status')
    return tipRow.status === 'confirmed'
  })
  t.like((await intent(token, foreign)).body, { status: 'requires_action', signature: null })
  t.is((await tip(token, sdkTipBody(embedder))).status, 200)
})

test('an unpaid intent expires, and is submitted again when a payment is recorded', async (t) => {
  const { embedder, token } = await startSession()
  const { intentId } = (await tip(token, sdkTipBody(embedder))).body
  await world()
    .db('payment_intents')
    .where({ id: intentId })
    .update({ created_at: world().db.raw(`created_at - interval '2 minutes'`) })
  t.is((await intent(token, intentId)).body.status, 'expired')
  const txSignature = unusedSignature()
  await recordTip(world(), {
    creatorWallet: embedder.wallet,
    senderWallet: unusedWallet(),
    tipAmount: 5,
    txSignature,
    intentId,
  })
  t.is((await intent(token, intentId)).body.status, 'submitted')
})

test('an intent can be read only with its own session', async (t) => {
  const { embedder, token } = await startSession()
  const { intentId } = (await tip(token, sdkTipBody(embedder))).body
  const otherSession = (await createSession(world(), embedder)).sessionToken
  for (const id of [
    intentId,
    'pi_x',
    `${intentId}x`,
    `pi_${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`,
    '%00',
  ]) {
    const answer = await intent(otherSession, id)
    t.is(answer.status, 404, id)
    t.is(answer.body.error, 'Payment intent not found')
  }
  t.is((await intent(token, intentId)).status, 200)
})

test('GET /sdk/session answers what a page needs', async (t) => {
  const embedder = await registerEmbedder(world(), {
    acceptedTokens: ['SOL', 'BONK', 'USDC'],
    minTipUsd: 4,
    maxTipUsd: 20,
    fiatCollection: 'bank_transfer',
  })
  const { sessionToken } = await createSession(world(), embedder)
  const answer = await world().request<Record<string, unknown>>('GET', '/sdk/session', {
    bearer: sessionToken,
  })
  const { expiresAt, now, tokens, ...rest } = answer.body
  const { wallet } = embedder
  t.deepEqual(rest, {
    success: true,
    creator: {
      id: embedder.id,
      name: 'Ada Lovelace',
      address: `${wallet.slice(0, 4)}...${wallet.slice(-4)}`,
    },
    presetsUsd: [5, 10],
    limits: { minTipUsd: 4, maxTipUsd: 20 },
    chain: 'solana:mainnet',
    rpcUrl: world().sandbox.url,
    bundleRpcUrl: world().sandbox.url,
    fiat: { enabled: true, collection: 'bank_transfer', minNgn: 100, maxNgn: 10_000_000 },
    theme: 'dark',
    parentOrigin: 'https://shop.example',
  })
  t.like(tokens, [
    { symbol: 'USDC', mint: usdcMint, decimals: 6 },
    { symbol: 'SOL', decimals: 9 },
    { symbol: 'BONK', decimals: 5 },
  ])
  const minutes = (Date.parse(String(expiresAt)) - Date.parse(String(now))) / 60_000
  t.true(minutes > 14 && minutes <= 15.1, String(minutes))
})
