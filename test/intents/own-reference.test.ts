import test from 'ava'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { follow } from '../helpers/http/stream-reader.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { createSession, type Embedder, registerEmbedder, sdkTipBody, site } from '../helpers/make/sdk.js'
import { createSupporter, unusedWallet } from '../helpers/make/supporter.js'
import { recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, chain: true })
const own = { reference: 'Order 1042', metadata: { cart: 'c_9', items: 3, gift: true } }
const inputTokenMint = tokenBySymbol('USDC')?.mint ?? ''

type Listed = Readonly<Record<string, unknown>>

async function readAll({ apiKey, id, session }: Embedder) {
  const { request } = world()
  const list = await request<{ tips: Listed[] }>('GET', '/creators/tips', { session })
  const found = await request<{ tips: Listed[] }>('GET', '/creators/tips?q=order%201042', { session })
  const events = await request<{ events: { type: string; data: Listed }[] }>('GET', '/creators/events', {
    bearer: apiKey,
  })
  const sdk = await request<{ events: Listed[] }>('GET', `/sdk/events?creatorId=${id}`, { bearer: apiKey })
  const shown = await request<{ tips: Listed[] }>('GET', `/chain/tips?address=${id}`)
  const csv = await fetch(`${world().url}/creators/tips?format=csv`, {
    headers: { cookie: `session=${session}` },
  })
  return {
    list: list.body.tips,
    found: found.body.tips,
    events: events.body.events.filter(({ type }) => type === 'tip.confirmed').map(({ data }) => data),
    sdk: sdk.body.events,
    public: shown.body.tips,
    csv: await csv.text(),
  }
}

async function payIntent(
  intent: { transaction: string; intentId: string },
  supporter: ReturnType<typeof createSupporter>,
  wallet: string,
) {
  const txSignature = supporter.pay(intent.transaction)
  await recordTip(world(), {
    creatorWallet: wallet,
    senderWallet: supporter.wallet,
    tipAmount: 1,
    txSignature,
    intentId: intent.intentId,
  })
  await runBatchUntil(
    createVerifierBatch(as('verifier', world().services)),
    'the tip is confirmed',
    async () => {
      const row = await world().db('tips').where({ id: txSignature }).first()
      return row.status === 'confirmed'
    },
  )
}

test('a crypto tip has its reference and metadata in the list, the search, the CSV and events, and not in public', async (t) => {
  const creator = await registerEmbedder(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const body = {
    creatorId: creator.id,
    amount: 2,
    inputTokenMint,
    sourceWalletAddress: supporter.wallet,
    ...own,
  }
  const { body: intent } = await world().request<{ transaction: string; intentId: string }>(
    'POST',
    '/payments/intent',
    { body },
  )
  await payIntent(intent, supporter, creator.wallet)
  const seen = await readAll(creator)
  for (const tips of [seen.list, seen.found, seen.events, seen.sdk]) t.like(tips[0], own)
  t.regex(seen.csv, /,Order 1042,"\{""cart"":""c_9"",""items"":3,""gift"":true\}"/)
  t.false('reference' in (seen.public[0] ?? {}))
  t.false('metadata' in (seen.public[0] ?? {}))
})

test('a crypto tip has the name that the supporter gave, cleaned, beside the wallet; without one no answer has the field', async (t) => {
  const creator = await registerEmbedder(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const reader = await follow(t, world().url, creator.wallet)
  const given = ['\u202eBola\u0007\nof <b>Ikeja</b>', 'x'.repeat(150), '\u2060 ', 7]
  const kept = ['Bola of <b>Ikeja</b>', 'x'.repeat(100), undefined, undefined]
  for (const senderName of given) {
    const { bearer, body } =
      senderName === given[1]
        ? { bearer: (await createSession(world(), creator)).sessionToken, body: { amount: 2 } }
        : { bearer: undefined, body: { amountUsd: 2, amount: 2 } }
    const answer = await world().request<{ transaction: string; intentId: string }>(
      'POST',
      bearer === undefined ? '/payments/intent' : '/sdk/tip',
      {
        ...(bearer && { bearer }),
        body: {
          ...body,
          creatorId: creator.id,
          inputTokenMint,
          sourceWalletAddress: supporter.wallet,
          senderName,
        },
      },
    )
    await payIntent(answer.body, supporter, creator.wallet)
  }
  await until('all tips are on the stream', () => reader.tips.length === given.length)
  const seen = await readAll(creator)
  const streamed = reader.tips.map(({ data }) => data as Listed)
  for (const tips of [seen.list.toReversed(), seen.events, seen.sdk.toReversed(), streamed]) {
    t.deepEqual(
      tips.map(({ senderName }) => senderName),
      kept,
    )
    t.deepEqual(
      tips.map((tip) => 'senderName' in tip),
      kept.map((name) => name !== undefined),
    )
    for (const { sender } of tips) t.is(sender, supporter.wallet)
  }
  for (const tip of seen.public) t.false('senderName' in tip)
  t.regex(seen.csv, /,senderName\r\n/)
  t.regex(seen.csv, /,Bola of <b>Ikeja<\/b>\r\n/)
})

test('words that are deleted are gone from the intent, the claim and the payer’s page', async (t) => {
  const creator = await registerEmbedder(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const body = {
    creatorId: creator.id,
    amountUsd: 2,
    inputTokenMint,
    sourceWalletAddress: supporter.wallet,
    senderName: 'zqxcanary-name',
    message: 'zqxcanary-insult',
  }
  const refused = await world().request('POST', '/payments/intent', {
    body: { ...body, metadata: { cart: '\0' } },
  })
  t.is(refused.body.code, 'invalid_metadata', 'PostgreSQL could not delete words beside it')
  const made = await world().request<{ transaction: string; intentId: string; statusUrl: string }>(
    'POST',
    '/payments/intent',
    { body: { ...body, metadata: own.metadata } },
  )
  await payIntent(made.body, supporter, creator.wallet)
  const page = async () => (await fetch(made.body.statusUrl.replace(publicUrl, world().url))).text()
  t.true((await page()).includes('zqxcanary'))
  const { id } = await world().db('tips').where({ intent_id: made.body.intentId }).first()
  await world().db.raw(
    `insert into tip_claims (tip_id, claim_hash, creator_wallet, sender, amount, token_symbol, message)
      values (?, '\\x00', ?, ?, 1, 'USDC', 'zqxcanary-claim')`,
    [id, creator.wallet, supporter.wallet],
  )
  const hidden = await world().request('POST', '/creators/overlay/tips', {
    session: creator.session,
    body: { signature: id, decision: 'hide' },
  })
  t.is(hidden.status, 200)
  t.false((await page()).includes('zqxcanary'))
  for (const table of ['payment_intents', 'tips', 'tip_claims', 'events']) {
    const { rows } = await world().db.raw('select 1 from ?? x where x::text like ?', [table, '%zqxcanary%'])
    t.is(rows.length, 0, table)
  }
  t.deepEqual((await world().db('tips').where({ id }).first()).metadata, own.metadata)
})

test('a naira tip has them too', async (t) => {
  const creator = await registerEmbedder(world())
  const { intentId } = await createFiatIntent(world(), {
    creatorId: creator.id,
    amount: 10,
    payerEmail: 'payer@example.com',
    ...own,
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const seen = await readAll(creator)
  for (const tips of [seen.list, seen.found, seen.events, seen.sdk]) t.like(tips[0], own)
  t.false('reference' in (seen.public[0] ?? {}))
  const receipt = await world().db('emails').where({ kind: 'receipt' }).orderBy('created_at', 'desc').first()
  t.true(JSON.stringify(receipt).includes('Order 1042'))
})

test('an intent of a session has those of the session, unless it gives its own', async (t) => {
  const creator = await registerEmbedder(world())
  const init = await world().request<{ sessionToken: string }>('POST', '/sdk/init', {
    bearer: creator.apiKey,
    body: { creatorId: creator.id, originUrl: site, ...own },
  })
  const bearer = init.body.sessionToken
  for (const [change, reference] of [
    [{}, 'Order 1042'],
    [{ reference: 'Order 7' }, 'Order 7'],
  ] as const) {
    const { body } = await world().request<{ intentId: string }>('POST', '/sdk/tip', {
      bearer,
      body: sdkTipBody(creator, change),
    })
    const row = await world().db('payment_intents').where({ id: body.intentId }).first()
    t.deepEqual([row.reference, row.metadata], [reference, own.metadata])
  }
  const naira = await createFiatIntent(world(), { creatorId: creator.id, amount: 10 }, bearer)
  t.is((await world().db('tips').where({ id: naira.intentId }).first()).reference, 'Order 1042')
})

test('who sends none sees no new field', async (t) => {
  const creator = await registerEmbedder(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.id, amount: 10 })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const seen = await readAll(creator)
  for (const tips of [seen.list, seen.events, seen.sdk])
    t.false('reference' in (tips[0] ?? {}) || 'metadata' in (tips[0] ?? {}))
  t.false(seen.csv.includes('senderName'))
})

test('what breaks its rule is refused with the name of the field, and nothing is stored', async (t) => {
  const creator = await registerEmbedder(world())
  const { sessionToken } = await createSession(world(), creator)
  const wrong = [
    [{ reference: '' }, 'reference'],
    [{ reference: ' x' }, 'reference'],
    [{ reference: 'a\nb' }, 'reference'],
    [{ reference: '\u0007' }, 'reference'],
    [{ reference: '\u202eevil' }, 'reference'],
    [{ reference: 'x'.repeat(65) }, 'reference'],
    [{ reference: 7 }, 'reference'],
    [{ metadata: 'x' }, 'metadata'],
    [{ metadata: [1] }, 'metadata'],
    [{ metadata: { a: { b: 1 } } }, 'metadata.a'],
    [{ metadata: { a: null } }, 'metadata.a'],
    [{ metadata: { '': 'x' } }, 'metadata'],
    [{ metadata: { a: 'x'.repeat(2048) } }, 'metadata'],
    [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, key) => [`k${key}`, key])) }, 'metadata'],
  ] as const
  const source = { inputTokenMint, sourceWalletAddress: unusedWallet() }
  for (const [change, field] of wrong)
    for (const [path, bearer, body] of [
      ['/payments/intent', undefined, { creatorId: creator.id, amount: 2, ...source }],
      ['/payments/fiat/intent', undefined, { creatorId: creator.id, amount: 10 }],
      ['/sdk/tip', sessionToken, sdkTipBody(creator)],
      ['/sdk/init', creator.apiKey, { creatorId: creator.id, originUrl: site }],
    ] as const) {
      const answer = await world().request('POST', path, {
        ...(bearer && { bearer }),
        body: { ...body, ...change },
      })
      const text = field === 'reference' ? 'Invalid reference' : 'Invalid metadata'
      t.deepEqual(
        [answer.status, answer.body.error, answer.body.details[0]?.field],
        [400, text, field],
        `${path} ${JSON.stringify(change)}`,
      )
    }
  const stored = await world()
    .db('payment_intents as i')
    .join('parties as p', 'p.id', 'i.recipient_party')
    .where({ 'p.user_id': creator.id })
  t.deepEqual(stored, [])
})
