import { PublicKey } from '@solana/web3.js'
import test from 'ava'
import { createFinderBatch } from '../../../src/tips/record/find-unreported.js'
import { createVerifierBatch } from '../../../src/tips/verify/verify-tips.js'
import { registerCreator } from '../../helpers/make/creators.js'
import { issueIntent } from '../../helpers/make/intents.js'
import { unconfirmed } from '../../helpers/make/landed.js'
import { landed, type PaidIntent, type PaymentOptions, payIntents } from '../../helpers/make/paid-intents.js'
import { createSupporter, strangerWallet } from '../../helpers/make/supporter.js'
import { listTips, recordTip, storedTip, verifyUntil } from '../../helpers/make/tips.js'
import { memo, solTransfer } from '../../helpers/make/transfers.js'
import { runBatch, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 400, taps: true })
const verify = () => createVerifierBatch(world().services)()
const find = () => createFinderBatch(world().services)()

test.afterEach.always(async () => {
  Object.assign(world().taps.outside, { alter: undefined, intervene: undefined })
  await world().db('payment_intents').update({ due_at: null })
  await world().db('tips').update({ due_at: null })
})

/** As the time until the next search passing would. */
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
  'as it was issued': {},
  'altered by a wallet': { change: (issued) => [memo('guard'), ...issued] },
}
for (const [how, options] of Object.entries(ways))
  test.serial(`a payment nobody reported, ${how}, becomes a tip by itself`, async (t) => {
    const creator = await registerCreator(world())
    const supporter = createSupporter(world().sandbox, ['USDC', 'BONK'])
    const paid = [
      ...(await payIntents(world(), supporter, [creator.wallet], options)),
      ...(await payIntents(world(), supporter, [creator.wallet], { ...options, symbol: 'SOL' })),
    ]
    await find()
    t.is(await storedTip(world(), paid[0]?.signature ?? ''), undefined, 'the client is given half a minute')
    await searchNow()
    await find()
    const signatures = paid.map(({ signature }) => signature)
    await verifyUntil(
      verify,
      'they are confirmed',
      async () => (await unconfirmed(world(), signatures)).length === 0,
    )
    for (const { signature, intent } of paid) {
      t.like(await storedTip(world(), signature), { status: 'confirmed', intent_id: intent.intentId })
      t.is((await storedIntent(intent.intentId)).due_at, null, 'and is searched for no more')
    }
    const listed = await listTips(world(), creator.wallet)
    const [inSol, inUsdc] = ['SOL', 'USDC'].map((symbol) => listed.find((tip) => tip.tokenSymbol === symbol))
    t.like(inSol, {
      amount: 2,
      receivedAmount: 1.96,
      tokenSymbol: 'SOL',
      sender: supporter.wallet,
      message: null,
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
    await verifyUntil(
      verify,
      'the message is there',
      async () => (await storedTip(world(), signatures[0] ?? '')).message === 'late',
    )
  })

test.serial('a reported payment costs no search', async (t) => {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const [paid] = (await payIntents(world(), supporter, [strangerWallet()])) as [PaidIntent]
  await recordTip(world(), paid.claim)
  await verifyUntil(
    verify,
    'it is confirmed',
    async () => (await unconfirmed(world(), [paid.signature])).length === 0,
  )
  world().sandbox.calls.reset()
  await searchNow()
  await find()
  t.is(world().sandbox.calls.of('getSignaturesForAddress'), 0)
})

test.serial(
  '300 open intents are searched for in few requests, ever more rarely, and then no more',
  async (t) => {
    t.timeout(60_000)
    const supporter = createSupporter(world().sandbox)
    const ids: string[] = []
    for (let index = 0; index < 300; index++) {
      const asked = { creatorId: strangerWallet(), amount: 1, sourceWalletAddress: supporter.wallet }
      const inputTokenMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
      ids.push((await issueIntent(world().request, { ...asked, inputTokenMint })).intentId)
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
  },
)

test.serial('a chain that is away, or answers garbage, ends no search', async (t) => {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const [paid] = (await payIntents(world(), supporter, [strangerWallet()])) as [PaidIntent]
  const old = new Date(Date.now() - 3_600_000)
  const failures: (() => void)[] = [
    () => Object.assign(world().taps.outside, { intervene: () => 'close' }),
    () => Object.assign(world().taps.outside, { intervene: () => ({ status: 429, body: 'slow down' }) }),
    () => Object.assign(world().taps.outside, { intervene: () => ({ status: 200, body: '<html>' }) }),
    () => Object.assign(world().taps.outside, { alter: () => ({ id: 0, result: 'nonsense' }) }),
    () =>
      Object.assign(world().taps.outside, {
        alter: () => ({ id: 0, error: { code: -32603, message: 'Internal error' } }),
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
    Object.assign(world().taps.outside, { alter: undefined, intervene: undefined })
  }
  await searchNow()
  await find()
  t.is((await storedTip(world(), paid.signature)).status, 'pending', 'then it is found')
})

test.serial('what carries the key and failed, or pays somebody else, is no tip of the intent', async (t) => {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const asked = {
    creatorId: strangerWallet(),
    amount: 1,
    inputTokenMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  }
  const intent = await issueIntent(world().request, { ...asked, sourceWalletAddress: supporter.wallet })
  const { reference_key: key } = await storedIntent(intent.intentId)
  const naming = solTransfer(supporter.wallet, supporter.wallet, 1)
  naming.keys.push({
    pubkey: new PublicKey(key),
    isSigner: false,
    isWritable: false,
  })
  const aside = supporter.pay(intent.transaction, () => [naming])
  await landed(world(), [aside])
  await searchNow()
  await find()
  world().sandbox.chain.advance(40)
  await verifyUntil(verify, 'it is judged', async () => (await storedTip(world(), aside)).due_at === null)
  t.like(await storedTip(world(), aside), { status: 'pending', outcome: 'mismatch' })
  t.truthy((await storedIntent(intent.intentId)).due_at, 'the search goes on')
})
