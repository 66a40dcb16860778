import { ComputeBudgetProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { solMint, usdc } from '../../../src/kernel/tokens.js'
import { countCustody, readCustody } from '../../../src/ledger/custody.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { countObserved } from '../../helpers/count-observed.js'
import { differingSums } from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { solTransfer, tokenTransfer } from '../../helpers/make/instructions.js'
import {
  createIntent,
  createPaidIntents,
  type IntentBody,
  makeTipsDue,
  type PaidIntent,
  untilConfirmedOnChain,
} from '../../helpers/make/intents.js'
import { listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSupporter, type Supporter, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { readBalance } from '../../helpers/make/withdrawals.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { chain: true, slotMs: 400, proxies: true })
const batch = () => createVerifierBatch(as('verifier', world().services))()

test.afterEach.always(async () => {
  Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
  world().sandbox.chain.releaseControls()
  // Some tests invent later slots. A node behind the newest known slot is not used, so the chain advances beyond them.
  const { sandbox, services } = world()
  sandbox.chain.advance(400)
  await until('the service uses a recent blockhash', async () => {
    const { blockhash } = await services.chain.latestBlockhash()
    return sandbox.chain.clock.slotOfRecentHash(blockhash) !== undefined
  })
  await world().db('tips').update({ due_at: null })
})

/** A confirmed tip of 2 dollars that is not final. */
async function confirmedTip(symbol = 'USDC', recipient = unusedWallet()): Promise<PaidIntent> {
  const supporter = createSupporter(world().sandbox, symbol === 'SOL' ? [] : [symbol])
  const [paid] = (await createPaidIntents(world(), supporter, [recipient], { symbol })) as [PaidIntent]
  await recordTip(world(), paid.claim)
  const isConfirmed = async () => (await listUnconfirmed(world(), [paid.signature])).length === 0
  await runBatchUntil(batch, 'it is confirmed', isConfirmed)
  return paid
}

async function balanceOf({ session }: TestCreator): Promise<Record<string, number>> {
  const answer = await world().request<{ balance: Record<string, number> }>('GET', '/creators/balance', {
    session,
  })
  return answer.body.balance
}

async function transfersOf(signature: string): Promise<{ idem: string; kind: string }[]> {
  return world()
    .db('ledger_transfers')
    .where('idem', 'like', `tip:${signature}%`)
    .orderBy('id')
    .select('idem', 'kind')
}

/** Replaces the chain's answers about the status of this signature. */
function statusBecomes(signature: string, status: unknown, slotsLater = 0): void {
  world().proxies.outside.alterReply = (method, [signatures], reply) => {
    if (method !== 'getSignatureStatuses' || !Array.isArray(signatures)) return reply
    const { context, value } = reply.result as { context: { slot: number }; value: unknown[] }
    const changed = value.map((one, index) => (signatures[index] === signature ? status : one))
    return { id: reply.id, result: { context: { slot: context.slot + slotsLater }, value: changed } }
  }
}

async function runCheck(): Promise<void> {
  await makeTipsDue(world())
  await batch().catch(() => undefined)
}

test.serial('the credit of a tip is pending when confirmed and available when final', async (t) => {
  const creator = await registerCreator(world())
  const seen = await countObserved(world().services.metrics.tipVisibleSeconds)
  const { signature } = await confirmedTip('USDC', creator.wallet)
  t.is(await countObserved(world().services.metrics.tipVisibleSeconds), seen + 1)
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 1.96, heldUSDC: 0 })
  await runCheck()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 1.96, heldUSDC: 0 }, 'not final yet')
  world().sandbox.chain.advance(40)
  await runCheck()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 })
  t.deepEqual(await transfersOf(signature), [
    { idem: `tip:${signature}`, kind: 'reserve' },
    { idem: `tip:${signature}:resolve`, kind: 'post' },
  ])
  const stored = await readTipRow(world(), signature)
  t.truthy(stored.finalized_at)
  t.is(stored.due_at, null)
  t.true((await checkBooks(world().db)).holds)
})

test.serial('only USDC that arrived in a custody wallet is credited', async (t) => {
  const creator = await registerCreator(world())
  for (const symbol of ['SOL', 'USDT']) {
    const { signature } = await confirmedTip(symbol, creator.wallet)
    t.deepEqual(await transfersOf(signature), [], symbol)
  }
  t.deepEqual(await transfersOf((await confirmedTip('USDC')).signature), [], 'a stranger’s wallet')
  world().sandbox.chain.advance(40)
  await runCheck()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 0, heldUSDC: 0 })
})

test.serial('a vanished tip fails, its credit is voided, and an alert is raised', async (t) => {
  const creator = await registerCreator(world())
  const { signature } = await confirmedTip('USDC', creator.wallet)
  const alerts = () => countAlerts(world(), 'tip_vanished')
  const before = await alerts()

  const today = async () => {
    const { body } = await world().request<{ days: unknown[] }>('GET', '/creators/tips/daily?days=2', creator)
    return body.days.filter((day) => (day as { count: number }).count > 0)
  }
  t.like(await today(), [{ count: 1, valueUsd: 2 }])
  t.deepEqual(await differingSums(world().db), [])

  statusBecomes(signature, null)
  await runCheck()
  t.like(await readTipRow(world(), signature), { status: 'confirmed' }, 'one check does not fail it')
  await setRows(world(), 'tips', { id: signature }, { missing_since: new Date(Date.now() - 181_000) })
  await runCheck()
  t.like(
    await readTipRow(world(), signature),
    { status: 'confirmed' },
    'while the transaction could land again, the tip does not fail',
  )

  statusBecomes(signature, null, 300)
  await runCheck()
  t.like(await readTipRow(world(), signature), { status: 'failed', due_at: null })
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 0, heldUSDC: 0 })
  t.deepEqual(await transfersOf(signature), [
    { idem: `tip:${signature}`, kind: 'reserve' },
    { idem: `tip:${signature}:resolve`, kind: 'void' },
  ])
  t.is(await alerts(), before + 1)
  t.deepEqual(await today(), [], 'the daily figures no longer contain it')
  t.deepEqual(await differingSums(world().db), [])
  t.deepEqual(
    (await listTips(world(), creator.wallet)).filter((tip) => tip.signature === signature),
    [],
  )

  statusBecomes(signature, { slot: 1, err: null, confirmationStatus: 'finalized' })
  await setRows(world(), 'tips', { id: signature }, { due_at: new Date(0) })
  await runCheck()
  t.is((await transfersOf(signature)).length, 2, 'a failed tip stays failed')
  t.true((await checkBooks(world().db)).holds)
})

test.serial('a tip whose transaction is missing for a while and found again becomes final', async (t) => {
  const creator = await registerCreator(world())
  const { signature } = await confirmedTip('USDC', creator.wallet)
  statusBecomes(signature, null, 300)
  await runCheck()
  t.truthy((await readTipRow(world(), signature)).missing_since)
  world().proxies.outside.alterReply = undefined
  world().proxies.outside.intervene = () => 'close'
  await runCheck()
  t.truthy((await readTipRow(world(), signature)).missing_since, 'no answer changes nothing')
  world().proxies.outside.intervene = undefined
  // The node's slot was invented above. A node behind it is not used until it has caught up.
  world().sandbox.chain.advance(300)
  await runCheck()
  t.like(await readTipRow(world(), signature), { status: 'confirmed', missing_since: null })
  t.is((await balanceOf(creator))['availableUSDC'], 1.96)
})

test.serial('a tip finalized in another slot is final if it paid the same, else it fails', async (t) => {
  const creator = await registerCreator(world())
  for (const same of [true, false]) {
    const { signature } = await confirmedTip('USDC', creator.wallet)
    const slot = world().sandbox.chain.clock.slot + 2
    statusBecomes(signature, {
      slot,
      err: same ? null : { InstructionError: [0, 'Custom'] },
      confirmationStatus: 'finalized',
    })
    await runCheck()
    t.is((await readTipRow(world(), signature)).status, same ? 'confirmed' : 'failed')
    if (same) t.is((await readTipRow(world(), signature)).slot, BigInt(slot))
    t.is((await transfersOf(signature)).at(-1)?.kind, same ? 'post' : 'void')
  }
  t.deepEqual(await balanceOf(creator), { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 })
})

test.serial('a claim that arrives while its tip is finalized is not lost', async (t) => {
  const creator = await registerCreator(world())
  const { signature, claim } = await confirmedTip('USDC', creator.wallet)
  world().sandbox.chain.advance(40)
  let late: Promise<unknown> | undefined
  world().proxies.outside.alterReply = (_method, _params, reply) => {
    late ??= recordTip(world(), { ...claim, message: 'late' })
    return reply
  }
  await runCheck()
  await late
  await runBatchUntil(
    batch,
    'the message is there',
    async () => (await readTipRow(world(), signature)).message === 'late',
  )
  await runCheck()
  t.is((await balanceOf(creator))['availableUSDC'], 1.96)
})

test.serial('tips confirmed and finalized by four concurrent batches are credited once each', async (t) => {
  const creators = [await registerCreator(world()), await registerCreator(world())]
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const recipients = Array.from({ length: 120 }, (_, index) => creators[index % 2]?.wallet ?? '')
  const paid = await createPaidIntents(world(), supporter, recipients)
  await Promise.all(paid.map(({ claim }) => recordTip(world(), claim)))
  const signatures = paid.map(({ signature }) => signature)
  const batches = Array.from({ length: 4 }, () => createVerifierBatch(as('verifier', world().services)))
  const all = () => Promise.all(batches.map((one) => one())).then(() => ({ taken: 0 }))
  await runBatchUntil(
    all,
    'all are confirmed',
    async () => (await listUnconfirmed(world(), signatures)).length === 0,
  )
  world().sandbox.chain.advance(40)
  await makeTipsDue(world())
  const open = () => world().db('tips').whereIn('id', signatures).whereNull('finalized_at')
  await runBatchUntil(all, 'all are final', async () => (await open()).length === 0)
  const received = paid.map(({ intent }) => Number(intent.quote.outAmount))
  for (const [index, creator] of creators.entries()) {
    const sum = received.filter((_, place) => place % 2 === index).reduce((a, b) => a + b, 0)
    t.is((await balanceOf(creator))['availableUSDC'], sum / 1e6)
  }
  t.true((await checkBooks(world().db)).holds)
})

test.afterEach.always(async () => {
  world().proxies.outside.alterReply = undefined
  await world().db('tips').update({ due_at: null })
})

/** Pays the intents of several creators in one transaction, as a shop with a cart would. */
async function payAll(supporter: Supporter, creators: readonly TestCreator[], message?: string) {
  const intents = await Promise.all(
    creators.map(({ wallet }, index) => {
      const body = { creatorId: wallet, amount: 2 + index, inputTokenMint: usdc.mint, message }
      return createIntent(world().request, { ...body, sourceWalletAddress: supporter.wallet })
    }),
  )
  const [first, ...others] = intents as [IntentBody, ...IntentBody[]]
  const signature = supporter.pay(first.transaction, (instructions) => [
    ...instructions,
    ...others.flatMap(({ transaction }) => {
      const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
      const all = TransactionMessage.decompile(message).instructions
      return all.filter(({ programId }) => !programId.equals(ComputeBudgetProgram.programId))
    }),
  ])
  await untilConfirmedOnChain(world(), [signature])
  return { intents, signature }
}

const untilStatus = (signature: string, status: string) =>
  runBatchUntil(batch, status, async () => {
    await makeTipsDue(world())
    return (await readTipRow(world(), signature)).status === status
  })

async function finalize(signature: string): Promise<void> {
  world().sandbox.chain.advance(40)
  await runBatchUntil(batch, 'final', async () => {
    await makeTipsDue(world())
    return (await readTipRow(world(), signature)).finalized_at !== null
  })
}

const ownTips = async ({ session }: TestCreator) =>
  (
    await world().request<{ tips: { signature: string; amount: number }[] }>('GET', '/creators/tips', {
      session,
    })
  ).body.tips

test.serial('two intents of two creators in one transaction are both confirmed', async (t) => {
  const creators = [await registerCreator(world()), await registerCreator(world())]
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const { intents, signature } = await payAll(supporter, creators, 'for you both')
  const claim = { creatorWallet: creators[1]?.wallet, senderWallet: supporter.wallet, tipAmount: 3_000_000 }
  await recordTip(world(), { ...claim, tokenSymbol: 'USDC', txSignature: signature })
  await untilStatus(signature, 'confirmed')
  for (const [index, creator] of creators.entries()) {
    const amount = 2 + index
    const item = {
      signature,
      amount,
      message: 'for you both',
      recipient: creator.wallet,
      status: 'confirmed',
    }
    for (const address of [creator.wallet, creator.user.id]) {
      const listed = await listTips(world(), address)
      t.is(listed.length, 1)
      t.like(listed[0], item)
    }
    const own = await ownTips(creator)
    t.is(own.length, 1)
    t.like(own[0], { signature, amount })
  }
  t.is((await listTips(world(), supporter.wallet)).length, 1, 'one row when asked by sender')
  const rows = await world()
    .db('tips')
    .whereIn(
      'intent_id',
      intents.map(({ intentId }) => intentId),
    )
  t.is(rows.length, 2)
  await finalize(signature)
  for (const creator of creators) {
    const [tip] = await listTips(world(), creator.wallet)
    t.is(tip?.receivedAmount, (await readBalance(world(), creator)).availableUSDC)
  }
  t.true((await checkBooks(world().db)).holds)
  await makeTipsDue(world())
  await batch()
  t.is((await world().db('tips').whereNotNull('due_at')).length, 0, 'no worker takes a further tip')
})

test.serial('SOL of a second payee is listed, and may be taken out once it is final', async (t) => {
  const [ada, ben] = [await registerCreator(world()), await registerCreator(world())]
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const signature = supporter.send([
    ...tokenTransfer(usdc, supporter.wallet, ada.wallet, 50_000_000),
    solTransfer(supporter.wallet, ben.wallet, 100_000_000),
  ])
  await untilConfirmedOnChain(world(), [signature])
  const claim = { senderWallet: supporter.wallet, txSignature: signature, tipAmount: 50_000_000 }
  await recordTip(world(), { ...claim, creatorWallet: ada.wallet, tokenSymbol: 'USDC' })
  await untilStatus(signature, 'confirmed')
  t.like((await listTips(world(), ben.wallet))[0], { signature, tokenSymbol: 'SOL', amount: 0.1 })
  const takeable = async () => {
    await countCustody(world().db, solMint, [ben.user.id])
    return (await readCustody(world().db, solMint, [ben.user.id]))[0]?.final
  }
  t.is(await takeable(), 0n)
  await finalize(signature)
  t.is(await takeable(), 100_000_000n)
  t.is((await listTips(world(), supporter.wallet)).length, 1)
})

test.serial('a transaction that vanishes takes the tips of all its payees with it', async (t) => {
  const creators = [await registerCreator(world()), await registerCreator(world())]
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const { signature } = await payAll(supporter, creators)
  const claim = { creatorWallet: creators[0]?.wallet, senderWallet: supporter.wallet, tipAmount: 2_000_000 }
  await recordTip(world(), { ...claim, tokenSymbol: 'USDC', txSignature: signature })
  await untilStatus(signature, 'confirmed')
  world().proxies.outside.alterReply = (method, [signatures], reply) => {
    if (method !== 'getSignatureStatuses' || !Array.isArray(signatures)) return reply
    const { context, value } = reply.result as { context: { slot: number }; value: unknown[] }
    const err = { InstructionError: [0, 'Custom'] }
    const failed = { slot: context.slot, err, confirmationStatus: 'finalized' }
    return { id: reply.id, result: { context, value: value.map(() => failed) } }
  }
  await untilStatus(signature, 'failed')
  for (const creator of creators) {
    t.deepEqual(await listTips(world(), creator.wallet), [])
    t.is((await readBalance(world(), creator)).availableUSDC, 0)
  }
  t.deepEqual(await differingSums(world().db), [])
  t.true((await checkBooks(world().db)).holds)
})
