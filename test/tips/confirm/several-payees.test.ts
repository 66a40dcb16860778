import { ComputeBudgetProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { solMint, usdc } from '../../../src/kernel/tokens.js'
import { countCustody, readCustody } from '../../../src/ledger/custody.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { differingSums } from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { solTransfer, tokenTransfer } from '../../helpers/make/instructions.js'
import {
  createIntent,
  type IntentBody,
  makeTipsDue,
  untilConfirmedOnChain,
} from '../../helpers/make/intents.js'
import { createSupporter, type Supporter } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { readBalance } from '../../helpers/make/withdrawals.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 400, proxies: true })
const batch = () => createVerifierBatch(as('verifier', world().services))()

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

test.serial(
  'SOL of a second payee is listed, and is in the custody that may be taken out once it is final',
  async (t) => {
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
  },
)

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
