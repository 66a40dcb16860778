import test from 'ava'
import { solMint } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify/verify-tips.js'
import { issueIntent } from '../../helpers/make/intents.js'
import { landTips, unconfirmed } from '../../helpers/make/landed.js'
import { createSupporter, strangerWallet } from '../../helpers/make/supporter.js'
import { recordTip, storedTip, verifyUntil } from '../../helpers/make/tips.js'
import { solTransfer } from '../../helpers/make/transfers.js'
import type { RpcReply } from '../../helpers/servers/outside-proxy.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, taps: true })
const batch = () => createVerifierBatch(world().services)()

test.afterEach.always(async () => {
  Object.assign(world().taps.outside, { alter: undefined, intervene: undefined })
  world().sandbox.faults.clear()
  world().sandbox.chain.releaseControls()
  await world().db('tips').update({ due_at: null })
})

async function confirmAll(signatures: readonly string[], milliseconds?: number): Promise<void> {
  const all = async () => (await unconfirmed(world(), signatures)).length === 0
  await verifyUntil(batch, `${signatures.length} tips are confirmed`, all, milliseconds)
}

/** Answers about one transaction become something else. */
function corrupt(signature: string, change: (reply: RpcReply) => RpcReply): void {
  world().taps.outside.alter = (method, [first], reply) =>
    method === 'getTransaction' && first === signature ? change(reply) : reply
}

const broken: Record<string, (reply: RpcReply) => RpcReply> = {
  'null, though its status is known': ({ id }) => ({ id, result: null }),
  'an error': ({ id }) => ({ id, error: { code: -32603, message: 'Internal error' } }),
  'bytes that are no transaction': ({ id, result }) => ({
    id,
    result: { ...(result as object), transaction: ['AAAA', 'base64'] },
  }),
  'no balances yet': ({ id, result }) => ({ id, result: { ...(result as object), meta: null } }),
  'a balance beyond what JSON can carry': ({ id, result }) => ({
    id,
    result: { ...(result as object), meta: { ...(result as { meta: object }).meta, preBalances: [2 ** 60] } },
  }),
  'no time yet': ({ id, result }) => ({ id, result: { ...(result as object), blockTime: null } }),
  'a text': ({ id }) => ({ id, result: 'nonsense' }),
  'nothing at all': () => ({}),
}

for (const [name, change] of Object.entries(broken))
  test.serial(`a transaction answered as ${name} waits, and the others of its batch do not`, async (t) => {
    const signatures = await landTips(world(), 12)
    const [bad = '', ...others] = signatures
    corrupt(bad, change)
    await confirmAll(others)
    t.like(await storedTip(world(), bad), { status: 'pending', outcome: null })
    t.truthy((await storedTip(world(), bad)).due_at)
    world().taps.outside.alter = undefined
    await t.notThrowsAsync(confirmAll([bad]))
  })

test.serial("a node that answers another transaction's facts is not believed", async (t) => {
  const [bad = '', other = ''] = await landTips(world(), 2)
  let held: unknown
  world().taps.outside.alter = (method, [first], reply) => {
    if (method !== 'getTransaction') return reply
    if (first === other) held = reply.result
    return first === bad ? { id: reply.id, result: held ?? null } : reply
  }
  await confirmAll([other])
  for (let look = 0; look < 3; look++) {
    await world()
      .db('tips')
      .where({ id: bad })
      .update({ due_at: new Date(0) })
    await batch()
  }
  t.like(await storedTip(world(), bad), { status: 'pending', outcome: null })
})

test.serial('a transaction that is only processed is waited for', async (t) => {
  const { chain } = world().sandbox
  const supporter = createSupporter(world().sandbox)
  const creatorWallet = strangerWallet()
  const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, 2_000_000)])
  chain.holdSignature(txSignature, 'processed')
  await recordTip(world(), {
    creatorWallet,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    txSignature,
  })
  for (let look = 0; look < 3; look++) {
    await batch()
    const { status, due_at: dueAt } = await storedTip(world(), txSignature)
    t.is(status, 'pending')
    t.true(dueAt.getTime() - Date.now() < 1000, 'it is looked at again within a second')
    await world()
      .db('tips')
      .where({ id: txSignature })
      .update({ due_at: new Date(0) })
  }
  chain.holdSignature(txSignature, undefined)
  await t.notThrowsAsync(confirmAll([txSignature]))
})

test.serial('a transaction of yesterday counts only with an intent', async (t) => {
  const [direct = ''] = await landTips(world(), 1)
  const supporter = createSupporter(world().sandbox)
  const creatorId = strangerWallet()
  const asked = { creatorId, amount: 0.1, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
  const withIntent = supporter.pay((await issueIntent(world().request, asked)).transaction)
  const claim = { creatorWallet: creatorId, senderWallet: supporter.wallet, tipAmount: 1 }
  await recordTip(world(), { ...claim, txSignature: withIntent })
  world().taps.outside.alter = (method, _params, reply) => {
    const result = reply.result as { blockTime?: number } | null
    if (method !== 'getTransaction' || typeof result?.blockTime !== 'number') return reply
    return { ...reply, result: { ...result, blockTime: result.blockTime - 25 * 3600 } }
  }
  await confirmAll([withIntent])
  const isDone = async () => (await storedTip(world(), direct)).due_at === null
  await verifyUntil(batch, 'the direct transfer is judged', isDone)
  t.like(await storedTip(world(), direct), { status: 'pending', outcome: 'mismatch' })
})
