import test from 'ava'
import { solMint } from '../../src/kernel/tokens.js'
import { createVerifierDrain } from '../../src/tips/verify.js'
import { issueIntent } from '../helpers/intents.js'
import type { RpcReply } from '../helpers/outside-proxy.js'
import { createSupporter, strangerWallet, unknownSignature } from '../helpers/supporter.js'
import { recordTip, someClaim, storedTip, verifyUntil } from '../helpers/tips.js'
import { solTransfer } from '../helpers/transfers.js'
import { until } from '../helpers/until.js'
import { useWorld } from '../helpers/world.js'

const world = useWorld(test, { chain: true, taps: true })
const drain = () => createVerifierDrain(world().services)()

test.afterEach.always(async () => {
  Object.assign(world().taps.outside, { alter: undefined, intervene: undefined })
  world().sandbox.faults.clear()
  world().sandbox.chain.releaseControls()
  await world().db('tips').update({ due_at: null })
})

/** Recorded tips whose transactions the chain has confirmed. */
async function landTips(count: number): Promise<string[]> {
  const supporter = createSupporter(world().sandbox)
  const claims = Array.from({ length: count }, () => {
    const creatorWallet = strangerWallet()
    const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, 2_000_000)])
    return { creatorWallet, senderWallet: supporter.wallet, tipAmount: 2_000_000, txSignature }
  })
  await until('the chain has confirmed them', () => isSettled(claims.at(-1)?.txSignature ?? ''))
  await Promise.all(claims.map((claim) => recordTip(world(), claim)))
  return claims.map(({ txSignature }) => txSignature)
}

function isSettled(signature: string): boolean {
  const { ledger } = world().sandbox.chain
  const record = ledger.get(signature)
  return record !== undefined && ledger.commitmentOf(record) !== 'processed'
}

async function unconfirmed(signatures: readonly string[]): Promise<string[]> {
  const rows = await world()
    .db('tips')
    .whereIn('id', signatures)
    .whereNot({ status: 'confirmed' })
    .select('id')
  return rows.map(({ id }) => id)
}

async function confirmAll(signatures: readonly string[], milliseconds?: number): Promise<void> {
  const all = async () => (await unconfirmed(signatures)).length === 0
  await verifyUntil(drain, `${signatures.length} tips are confirmed`, all, milliseconds)
}

/** Answers about one transaction become something else. */
function corrupt(signature: string, change: (reply: RpcReply) => RpcReply): void {
  world().taps.outside.alter = (method, [first], reply) =>
    method === 'getTransaction' && first === signature ? change(reply) : reply
}

test.serial(
  'a node that takes three inputs at a time is asked in threes, and everything is confirmed',
  async (t) => {
    const signatures = await landTips(40)
    world().sandbox.faults.set({ maxInputs: 3 })
    await t.notThrowsAsync(confirmAll(signatures))
  },
)

test.serial('a node that takes one input at a time is asked for one', async (t) => {
  const signatures = await landTips(9)
  world().sandbox.faults.set({ maxInputs: 1 })
  await t.notThrowsAsync(confirmAll(signatures))
})

test.serial('a node that is behind for long questions is asked shorter ones', async (t) => {
  const signatures = await landTips(40)
  world().taps.outside.alter = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.length > 5
      ? { id: reply.id, error: { code: -32005, message: 'Node is behind by 42 slots' } }
      : reply
  await t.notThrowsAsync(confirmAll(signatures))
})

for (const answer of ['429', 'html'] as const)
  test.serial(`a node that answers ${answer} for a while delays tips by about as long`, async (t) => {
    const signatures = await landTips(20)
    world().sandbox.faults.set({ answer })
    for (let look = 0; look < 3; look++) await drain().catch(() => undefined)
    t.is((await unconfirmed(signatures)).length, 20)
    world().sandbox.faults.clear()
    await t.notThrowsAsync(confirmAll(signatures, 3000))
  })

test.serial('a node that answers 429 is not asked hundreds of times at once', async (t) => {
  await landTips(100)
  const { sandbox } = world()
  sandbox.faults.set({ answer: '429' })
  sandbox.calls.reset()
  await drain().catch(() => undefined)
  t.true(sandbox.calls.httpRequests <= 20, `${sandbox.calls.httpRequests} requests`)
})

test.serial('a node that hangs up delays tips by about as long', async (t) => {
  const signatures = await landTips(3)
  world().taps.outside.intervene = () => 'close'
  await t.throwsAsync(drain)
  world().taps.outside.intervene = undefined
  await t.notThrowsAsync(confirmAll(signatures, 3000))
})

test.serial('no answer about an old signature is no verdict about it', async (t) => {
  const [old] = [unknownSignature()]
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await world()
    .db('tips')
    .where({ id: old })
    .update({ recorded_at: long, due_at: new Date(0) })
  const fresh = await landTips(10)
  // One question goes wrong, the others are answered.
  world().taps.outside.alter = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.includes(old)
      ? { id: reply.id, error: { code: first.length > 1 ? -32602 : -32603, message: 'Internal error' } }
      : reply
  await confirmAll(fresh)
  t.is((await storedTip(world(), old)).outcome, null)
  t.truthy((await storedTip(world(), old)).due_at)
})

test.serial('an answer that is too short says nothing about what it leaves out', async (t) => {
  const old = unknownSignature()
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await world()
    .db('tips')
    .where({ id: old })
    .update({ recorded_at: long, due_at: new Date(0) })
  world().taps.outside.alter = (method, _params, reply) =>
    method === 'getSignatureStatuses' ? { id: reply.id, result: { context: { slot: 1 }, value: [] } } : reply
  await drain().catch(() => undefined)
  t.is((await storedTip(world(), old)).outcome, null)
})

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
    const signatures = await landTips(12)
    const [bad = '', ...others] = signatures
    corrupt(bad, change)
    await confirmAll(others)
    t.like(await storedTip(world(), bad), { status: 'pending', outcome: null })
    t.truthy((await storedTip(world(), bad)).due_at)
    world().taps.outside.alter = undefined
    await t.notThrowsAsync(confirmAll([bad]))
  })

test.serial("a node that answers another transaction's facts is not believed", async (t) => {
  const [bad = '', other = ''] = await landTips(2)
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
    await drain()
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
    await drain()
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
  const [direct = ''] = await landTips(1)
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
  await verifyUntil(drain, 'the direct transfer is judged', isDone)
  t.like(await storedTip(world(), direct), { status: 'pending', outcome: 'mismatch' })
})
