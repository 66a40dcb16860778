import test from 'ava'
import { solMint } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { solTransfer } from '../../helpers/make/instructions.js'
import { createIntent } from '../../helpers/make/intents.js'
import { createRecordedTips, listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import type { RpcReply } from '../../helpers/proxies/sandbox-proxy.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
const batch = () => createVerifierBatch(as('verifier', world().services))()

test.afterEach.always(async () => {
  Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
  world().sandbox.faults.clear()
  world().sandbox.chain.releaseControls()
  await world().db('tips').update({ due_at: null })
})

async function confirmAll(signatures: readonly string[]): Promise<void> {
  const all = async () => (await listUnconfirmed(world(), signatures)).length === 0
  await runBatchUntil(batch, `${signatures.length} tips are confirmed`, all)
}

/** Changes the answers about one transaction. */
function corrupt(signature: string, change: (reply: RpcReply) => RpcReply): void {
  world().proxies.outside.alterReply = (method, [first], reply) =>
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
  test.serial(
    `a transaction answered as ${name} waits, and the others of its batch do not wait`,
    async (t) => {
      const signatures = await createRecordedTips(world(), 12)
      const [bad = '', ...others] = signatures
      corrupt(bad, change)
      await confirmAll(others)
      t.like(await readTipRow(world(), bad), { status: 'pending', outcome: null })
      t.truthy((await readTipRow(world(), bad)).due_at)
      world().proxies.outside.alterReply = undefined
      await t.notThrowsAsync(confirmAll([bad]))
    },
  )

test.serial('the answer of a node with another transaction is not used', async (t) => {
  const [bad = '', other = ''] = await createRecordedTips(world(), 2)
  let held: unknown
  world().proxies.outside.alterReply = (method, [first], reply) => {
    if (method !== 'getTransaction') return reply
    if (first === other) held = reply.result
    return first === bad ? { id: reply.id, result: held ?? null } : reply
  }
  await confirmAll([other])
  for (let check = 0; check < 3; check++) {
    await world()
      .db('tips')
      .where({ id: bad })
      .update({ due_at: new Date(0) })
    await batch()
  }
  t.like(await readTipRow(world(), bad), { status: 'pending', outcome: null })
})

test.serial('a transaction that is only processed is checked again', async (t) => {
  const { chain } = world().sandbox
  const supporter = createSupporter(world().sandbox)
  const creatorWallet = unusedWallet()
  const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, 2_000_000)])
  chain.holdSignature(txSignature, 'processed')
  await recordTip(world(), {
    creatorWallet,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    txSignature,
  })
  for (let check = 0; check < 3; check++) {
    await batch()
    const { status, due_at: dueAt } = await readTipRow(world(), txSignature)
    t.is(status, 'pending')
    t.true(dueAt.getTime() - Date.now() < 1000, 'it is checked again within a second')
    await world()
      .db('tips')
      .where({ id: txSignature })
      .update({ due_at: new Date(0) })
  }
  chain.holdSignature(txSignature, undefined)
  await t.notThrowsAsync(confirmAll([txSignature]))
})

test.serial('a transaction from yesterday counts only with an intent', async (t) => {
  const [direct = ''] = await createRecordedTips(world(), 1)
  const supporter = createSupporter(world().sandbox)
  const creatorId = unusedWallet()
  const fields = { creatorId, amount: 0.1, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
  const withIntent = supporter.pay((await createIntent(world().request, fields)).transaction)
  const claim = { creatorWallet: creatorId, senderWallet: supporter.wallet, tipAmount: 1 }
  await recordTip(world(), { ...claim, txSignature: withIntent })
  world().proxies.outside.alterReply = (method, _params, reply) => {
    const result = reply.result as { blockTime?: number } | null
    if (method !== 'getTransaction' || typeof result?.blockTime !== 'number') return reply
    return { ...reply, result: { ...result, blockTime: result.blockTime - 25 * 3600 } }
  }
  await confirmAll([withIntent])
  const isDone = async () => (await readTipRow(world(), direct)).due_at === null
  await runBatchUntil(batch, 'the direct transfer is checked', isDone)
  t.like(await readTipRow(world(), direct), { status: 'pending', outcome: 'mismatch' })
})
