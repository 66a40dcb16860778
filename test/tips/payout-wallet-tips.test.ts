import test from 'ava'
import { usdc } from '../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { follow } from '../helpers/http/stream-reader.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { solTransfer } from '../helpers/make/instructions.js'
import { createIntent, type IntentBody, makeTipsDue, untilConfirmedOnChain } from '../helpers/make/intents.js'
import { listUnconfirmed } from '../helpers/make/landed-tips.js'
import { addPayoutWallet, sendTipsTo } from '../helpers/make/payout-wallets.js'
import { createSession, registerEmbedder, sdkTipBody } from '../helpers/make/sdk.js'
import { createSupporter, type Supporter } from '../helpers/make/supporter.js'
import { type ListedTip, listTips, readTipRow, recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { chain: true })
const verify = () => createVerifierBatch(as('verifier', world().services))()

test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

/** A creator whose tips go to a wallet of their own. */
async function creatorWithPayoutWallet(): Promise<TestCreator & { readonly payoutWallet: string }> {
  const creator = await registerCreator(world())
  const { address } = await addPayoutWallet(world(), creator)
  await sendTipsTo(world(), creator, 'payout_wallet')
  return { ...creator, payoutWallet: address }
}

const intentTo = (creatorId: string, supporter: Supporter, mint: string, amount = 2): Promise<IntentBody> =>
  createIntent(world().request, {
    creatorId,
    amount,
    inputTokenMint: mint,
    sourceWalletAddress: supporter.wallet,
  })

/** Reports a signature and has it confirmed. */
async function confirm(signature: string, claim: Record<string, unknown>) {
  await untilConfirmedOnChain(world(), [signature])
  const recorded = await recordTip(world(), { ...claim, txSignature: signature })
  const confirmed = async () => (await listUnconfirmed(world(), [signature])).length === 0
  await runBatchUntil(verify, 'it is confirmed', confirmed)
  return recorded
}

async function ownTips({ session }: TestCreator): Promise<readonly ListedTip[]> {
  return (await world().request<{ tips: ListedTip[] }>('GET', '/creators/tips', { session })).body.tips
}
const signaturesOf = (tips: readonly ListedTip[]) => tips.map(({ signature }) => signature)
const transfersOf = (signature: string) => world().db('ledger_transfers').where({ ref: signature })

test('a tip to a payout wallet is the creator’s in every list, stream, sum and event, and credits nothing', async (t) => {
  const { db, request, sandbox, url } = world()
  const embedder = await registerEmbedder(world())
  const { address } = await addPayoutWallet(world(), embedder)
  await sendTipsTo(world(), embedder, 'payout_wallet')
  const supporter = createSupporter(sandbox, ['USDC'])
  const streams = [await follow(t, url, embedder.wallet), await follow(t, url, address)]

  const intent = await intentTo(embedder.wallet, supporter, usdc.mint)
  t.is(intent.recipient, address)
  const signature = supporter.pay(intent.transaction)
  const claim = {
    creatorWallet: address,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    tokenSymbol: 'USDC',
  }
  const recorded = await confirm(signature, claim)
  t.is(recorded.tip.recipientId, embedder.id)

  for (const list of [
    await ownTips(embedder),
    await listTips(world(), embedder.wallet),
    await listTips(world(), embedder.id),
    await listTips(world(), address),
  ]) {
    t.deepEqual(signaturesOf(list), [signature])
    t.like(list[0], { recipient: address, recipient_id: embedder.id, amount: 2, receivedAmount: 1.96 })
  }
  for (const reader of streams) {
    await until('the tip comes', () => reader.tips.length === 1)
    t.like(reader.tips[0]?.data, { amount: 2, receivedAmount: 1.96, sender: supporter.wallet })
  }
  const { body: events } = await request<{ events: { txSignature: string }[] }>(
    'GET',
    `/sdk/events?creatorId=${embedder.id}`,
    { bearer: embedder.apiKey },
  )
  t.deepEqual(
    events.events.map(({ txSignature }) => txSignature),
    [signature],
  )
  const { body: daily } = await request<{ days: { count: number; valueUsd: number }[] }>(
    'GET',
    '/creators/tips/daily?days=1',
    { session: embedder.session },
  )
  t.like(daily.days.at(-1), { count: 1, valueUsd: 2 })

  sandbox.chain.advance(40)
  await makeTipsDue(world())
  await runBatchUntil(
    verify,
    'it is final',
    async () => (await readTipRow(world(), signature)).finalized_at !== null,
  )
  t.deepEqual(await transfersOf(signature), [])
  t.is((await db('ledger_accounts').where({ user_id: embedder.id })).length, 0)
})

test('SDK sessions and swaps pay the payout wallet', async (t) => {
  const { request, sandbox } = world()
  const embedder = await registerEmbedder(world(), { autoConvertUsdc: true })
  const { address } = await addPayoutWallet(world(), embedder)
  await sendTipsTo(world(), embedder, 'payout_wallet')
  const { sessionToken } = await createSession(world(), embedder)
  const supporter = createSupporter(sandbox, ['BONK'])
  const { body: intent } = await request<IntentBody>('POST', '/sdk/tip', {
    bearer: sessionToken,
    body: sdkTipBody(embedder, {
      sourceWalletAddress: supporter.wallet,
      inputTokenMint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    }),
  })
  t.is(intent.recipient, address)
  t.not(intent.provider, 'direct-transfer')
  const signature = supporter.pay(intent.transaction)
  await confirm(signature, {
    creatorWallet: address,
    senderWallet: supporter.wallet,
    tipAmount: 1,
    tokenSymbol: 'BONK',
    intentId: intent.intentId,
  })
  t.like((await listTips(world(), embedder.id))[0], { signature, recipient: address, tokenSymbol: 'USDC' })
  const read = await request<{ status: string; receivedAmount: number }>(
    'GET',
    `/sdk/intents/${intent.intentId}`,
    {
      bearer: sessionToken,
    },
  )
  t.is(read.body.status, 'confirmed')
  t.true(read.body.receivedAmount > 4)
  t.deepEqual(await transfersOf(signature), [])
})

test('a tip stays the creator’s when the payout wallet changes or goes while its intent is open', async (t) => {
  const creator = await creatorWithPayoutWallet()
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const first = await intentTo(creator.user.id, supporter, usdc.mint, 2)
  const next = await addPayoutWallet(world(), creator)
  const second = await intentTo(creator.user.id, supporter, usdc.mint, 3)
  t.deepEqual([first.recipient, second.recipient], [creator.payoutWallet, next.address])
  await world().request('DELETE', '/creators/payout-wallet', { session: creator.session })
  // The first wallet is another creator's by now: the tip is still of whose intent it pays.
  const other = await registerCreator(world())
  await world()
    .db('payout_wallets')
    .insert({ user_id: other.user.id, wallet: creator.payoutWallet, takes_tips: true })
  const third = await intentTo(creator.user.id, supporter, usdc.mint, 4)
  t.is(third.recipient, creator.wallet)
  const paid = [first, second, third].map(({ transaction }) => supporter.pay(transaction))
  for (const [index, { recipient }] of [first, second, third].entries())
    await confirm(paid[index] ?? '', {
      creatorWallet: recipient,
      senderWallet: supporter.wallet,
      tipAmount: (2 + index) * 1_000_000,
      tokenSymbol: 'USDC',
    })
  const tips = await listTips(world(), creator.user.id)
  t.deepEqual(signaturesOf(tips).toSorted(), paid.toSorted())
  t.deepEqual(
    tips.map(({ amount, recipient }) => [amount, recipient]).toSorted(),
    [first, second, third].map(({ recipient }, index) => [2 + index, recipient]).toSorted(),
  )
  t.deepEqual(await listTips(world(), other.user.id), [])
  // It may be final by now, which posts what was reserved in a transfer of its own.
  const credits = (await transfersOf(paid[2] ?? '')).filter(({ kind }) => kind === 'reserve')
  t.is(credits.length, 1, 'only what came to the custody wallet is credited')
})

test('a transfer without an intent to a payout wallet is the creator’s tip while tips go there', async (t) => {
  const creator = await creatorWithPayoutWallet()
  const supporter = createSupporter(world().sandbox)
  const pay = async (lamports: number) => {
    const signature = supporter.send([solTransfer(supporter.wallet, creator.payoutWallet, lamports)])
    await confirm(signature, {
      creatorWallet: creator.payoutWallet,
      senderWallet: supporter.wallet,
      tipAmount: lamports,
    })
    return signature
  }
  const tip = await pay(50_000_000)
  t.deepEqual(signaturesOf(await listTips(world(), creator.user.id)), [tip])
  await sendTipsTo(world(), creator, 'custody')
  const transfer = await pay(60_000_000)
  t.deepEqual(
    signaturesOf(await listTips(world(), creator.user.id)),
    [tip],
    'it is the creator’s private wallet',
  )
  t.deepEqual(signaturesOf(await listTips(world(), creator.payoutWallet)), [transfer])
})

test('a creator may tip another from the payout wallet, and a frozen account’s tips go to its custody wallet', async (t) => {
  const { db, sandbox } = world()
  const supporter = createSupporter(sandbox, ['USDC'])
  const [giver, receiver] = [await registerCreator(world()), await creatorWithPayoutWallet()]
  await db('payout_wallets').insert({ user_id: giver.user.id, wallet: supporter.wallet, takes_tips: true })
  const intent = await intentTo(receiver.payoutWallet, supporter, usdc.mint)
  const signature = supporter.pay(intent.transaction)
  await confirm(signature, {
    creatorWallet: intent.recipient,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    tokenSymbol: 'USDC',
  })
  t.like((await listTips(world(), receiver.user.id))[0], { signature, recipient_id: receiver.user.id })

  await db('users').where({ id: receiver.user.id }).update({ frozen_at: new Date(), frozen_reason: 'test' })
  for (const creatorId of [receiver.user.id, receiver.payoutWallet])
    t.is((await intentTo(creatorId, supporter, usdc.mint)).recipient, receiver.wallet)
})
