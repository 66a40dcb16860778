import { PublicKey } from '@solana/web3.js'
import test from 'ava'
import { createFinderBatch } from '../../../src/tips/record/find-unreported.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { registerCreator } from '../../helpers/make/creators.js'
import { memo, solTransfer } from '../../helpers/make/instructions.js'
import {
  createIntent,
  createPaidIntents,
  type PaidIntent,
  type PaymentOptions,
  untilConfirmedOnChain,
} from '../../helpers/make/intents.js'
import { listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { runBatch, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 400, proxies: true })
const verify = () => createVerifierBatch(as('verifier', world().services))()
const find = () => createFinderBatch(as('finder', world().services))()

test.afterEach.always(async () => {
  Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
  await world().db('payment_intents').update({ due_at: null })
  await world().db('tips').update({ due_at: null })
})

/** Makes every open intent due, as if the time until the next search had passed. */
async function searchNow(): Promise<void> {
  await world()
    .db('payment_intents')
    .whereNotNull('due_at')
    .update({ due_at: new Date(0) })
}

function storedIntent(id: string) {
  return world().db('payment_intents').where({ id }).first()
}

const ways: Record<string, PaymentOptions> = {
  unchanged: {},
  'altered by a wallet': { change: (issued) => [memo('guard'), ...issued] },
}
for (const [how, options] of Object.entries(ways))
  test.serial(`an unreported payment, ${how}, becomes a tip`, async (t) => {
    const creator = await registerCreator(world())
    const supporter = createSupporter(world().sandbox, ['USDC', 'BONK'])
    const paid = [
      ...(await createPaidIntents(world(), supporter, [creator.wallet], options)),
      ...(await createPaidIntents(world(), supporter, [creator.wallet], {
        ...options,
        symbol: 'SOL',
        message: 'from a lost phone',
      })),
    ]
    await find()
    t.is(
      await readTipRow(world(), paid[0]?.signature ?? ''),
      undefined,
      'the client has half a minute to report it',
    )
    await searchNow()
    await find()
    const signatures = paid.map(({ signature }) => signature)
    await runBatchUntil(
      verify,
      'they are confirmed',
      async () => (await listUnconfirmed(world(), signatures)).length === 0,
    )
    for (const { signature, intent } of paid) {
      t.like(await readTipRow(world(), signature), { status: 'confirmed', intent_id: intent.intentId })
      t.is((await storedIntent(intent.intentId)).due_at, null, 'and the search has ended')
    }
    const listed = await listTips(world(), creator.wallet)
    const [inSol, inUsdc] = ['SOL', 'USDC'].map((symbol) => listed.find((tip) => tip.tokenSymbol === symbol))
    t.like(inSol, {
      amount: 2,
      receivedAmount: 1.96,
      tokenSymbol: 'SOL',
      sender: supporter.wallet,
      message: 'from a lost phone',
    })
    t.like(inUsdc, {
      amount: 2,
      receivedAmount: 1.96,
      tokenSymbol: 'USDC',
      sender: supporter.wallet,
      message: null,
    })
    const balance = await world().request<{ balance: object }>('GET', '/creators/balance', {
      session: creator.session,
    })
    t.like(balance.body.balance, { pendingUSDC: 1.96 })

    await recordTip(world(), { ...(paid[0] as PaidIntent).claim, message: 'late' })
    await runBatchUntil(
      verify,
      'the message is there',
      async () => (await readTipRow(world(), signatures[0] ?? '')).message === 'late',
    )
  })

test.serial('a reported payment is not searched for', async (t) => {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const [paid] = (await createPaidIntents(world(), supporter, [unusedWallet()])) as [PaidIntent]
  await recordTip(world(), paid.claim)
  await runBatchUntil(
    verify,
    'it is confirmed',
    async () => (await listUnconfirmed(world(), [paid.signature])).length === 0,
  )
  world().sandbox.calls.reset()
  await searchNow()
  await find()
  t.is(world().sandbox.calls.of('getSignaturesForAddress'), 0)
})

test.serial('300 open intents are searched for in few requests, ever more seldom', async (t) => {
  const supporter = createSupporter(world().sandbox)
  const ids: string[] = []
  for (let index = 0; index < 300; index++) {
    const fields = { creatorId: unusedWallet(), amount: 1, sourceWalletAddress: supporter.wallet }
    const inputTokenMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    ids.push((await createIntent(world().request, { ...fields, inputTokenMint })).intentId)
  }
  const { calls } = world().sandbox
  calls.reset()
  await searchNow()
  await runBatch(find)
  t.is(calls.of('getSignaturesForAddress'), 300)
  t.true(calls.httpRequests <= 4, `${calls.httpRequests} requests`)

  let searches = 0
  const waits: number[] = []
  const [id = ''] = ids
  await world().db('payment_intents').whereNot({ id }).update({ due_at: null })
  for (let ageMs = 30_000; searches < 50; searches++) {
    await world()
      .db('payment_intents')
      .where({ id })
      .update({ due_at: new Date(0), created_at: new Date(Date.now() - ageMs) })
    await find()
    const { due_at: dueAt } = await storedIntent(id)
    if (dueAt === null) break
    waits.push(dueAt.getTime() - Date.now())
    ageMs += dueAt.getTime() - Date.now()
  }
  t.log(waits.map((ms) => `${Math.round(ms / 1000)} s`).join(', '))
  t.true(searches < 10)
  t.deepEqual(
    waits,
    waits.toSorted((a, b) => a - b),
  )
})

test.serial('a chain that is unavailable or answers garbage does not end a search', async (t) => {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const [paid] = (await createPaidIntents(world(), supporter, [unusedWallet()])) as [PaidIntent]
  const old = new Date(Date.now() - 3_600_000)
  const failures: (() => void)[] = [
    () => Object.assign(world().proxies.outside, { intervene: () => 'close' }),
    () => Object.assign(world().proxies.outside, { intervene: () => ({ status: 429, body: 'slow down' }) }),
    () => Object.assign(world().proxies.outside, { intervene: () => ({ status: 200, body: '<html>' }) }),
    () => Object.assign(world().proxies.outside, { alterReply: () => ({ id: 0, result: 'nonsense' }) }),
    () =>
      Object.assign(world().proxies.outside, {
        alterReply: () => ({ id: 0, error: { code: -32603, message: 'Internal error' } }),
      }),
  ]
  for (const fail of failures) {
    await world()
      .db('payment_intents')
      .where({ id: paid.intent.intentId })
      .update({ due_at: new Date(0), created_at: old })
    fail()
    await find().catch(() => undefined)
    t.truthy((await storedIntent(paid.intent.intentId)).due_at)
    Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
  }
  await searchNow()
  await find()
  t.is((await readTipRow(world(), paid.signature)).status, 'pending', 'then it is found')
})

test.serial('a transaction with the reference key that pays another is no tip of the intent', async (t) => {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const fields = {
    creatorId: unusedWallet(),
    amount: 1,
    inputTokenMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  }
  const intent = await createIntent(world().request, { ...fields, sourceWalletAddress: supporter.wallet })
  const { reference_key: key } = await storedIntent(intent.intentId)
  const withKey = solTransfer(supporter.wallet, supporter.wallet, 1)
  withKey.keys.push({
    pubkey: new PublicKey(key),
    isSigner: false,
    isWritable: false,
  })
  const unrelated = supporter.pay(intent.transaction, () => [withKey])
  await untilConfirmedOnChain(world(), [unrelated])
  await searchNow()
  await find()
  world().sandbox.chain.advance(40)
  await runBatchUntil(
    verify,
    'it is checked',
    async () => (await readTipRow(world(), unrelated)).due_at === null,
  )
  t.like(await readTipRow(world(), unrelated), { status: 'pending', outcome: 'mismatch' })
  t.truthy((await storedIntent(intent.intentId)).due_at, 'the search continues')
})
