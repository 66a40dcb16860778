import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { solMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { createClient } from '../../helpers/http/client.js'
import { solTransfer } from '../../helpers/make/instructions.js'
import { createIntent } from '../../helpers/make/intents.js'
import { createRecordedTips, listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSupporter, unusedSignature, unusedWallet } from '../../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil, someClaim } from '../../helpers/make/tips.js'
import { type RpcReply, type SandboxProxy, startSandboxProxy } from '../../helpers/proxies/sandbox-proxy.js'
import { as, composeAs } from '../../helpers/servers/roles.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

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
  test.serial(`a transaction answered as ${name} waits, the others of its batch do not`, async (t) => {
    const signatures = await createRecordedTips(world(), 12)
    const [bad = '', ...others] = signatures
    corrupt(bad, change)
    await confirmAll(others)
    t.like(await readTipRow(world(), bad), { status: 'pending', outcome: null })
    t.truthy((await readTipRow(world(), bad)).due_at)
    world().proxies.outside.alterReply = undefined
    await t.notThrowsAsync(confirmAll([bad]))
  })

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
    await setRows(world(), 'tips', { id: bad }, { due_at: new Date(0) })
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
    await setRows(world(), 'tips', { id: txSignature }, { due_at: new Date(0) })
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

test.serial('a node that accepts batches of three gets them, and all is confirmed', async (t) => {
  const signatures = await createRecordedTips(world(), 40)
  world().sandbox.faults.set({ maxInputs: 3 })
  await t.notThrowsAsync(confirmAll(signatures))
})

test.serial('a node that accepts one call at a time gets one', async (t) => {
  const signatures = await createRecordedTips(world(), 9)
  world().sandbox.faults.set({ maxInputs: 1 })
  await t.notThrowsAsync(confirmAll(signatures))
})

test.serial('a node that lags for large batches gets smaller ones', async (t) => {
  const signatures = await createRecordedTips(world(), 40)
  world().proxies.outside.alterReply = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.length > 5
      ? { id: reply.id, error: { code: -32005, message: 'Node is behind by 42 slots' } }
      : reply
  await t.notThrowsAsync(confirmAll(signatures))
})

for (const answer of ['429', 'html'] as const)
  test.serial(`a node that answers ${answer} for a while delays tips only for about that long`, async (t) => {
    const signatures = await createRecordedTips(world(), 20)
    world().sandbox.faults.set({ answer })
    for (let check = 0; check < 3; check++) await batch().catch(() => undefined)
    t.is((await listUnconfirmed(world(), signatures)).length, 20)
    world().sandbox.faults.clear()
    await t.notThrowsAsync(confirmAll(signatures))
  })

test.serial('a node that answers 429 does not get hundreds of concurrent requests', async (t) => {
  await createRecordedTips(world(), 100)
  const { sandbox } = world()
  sandbox.faults.set({ answer: '429' })
  sandbox.calls.reset()
  await batch().catch(() => undefined)
  t.true(sandbox.calls.httpRequests <= 20, `${sandbox.calls.httpRequests} requests`)
})

test.serial('a node that closes connections delays tips only for about that long', async (t) => {
  const signatures = await createRecordedTips(world(), 3)
  world().proxies.outside.intervene = () => 'close'
  await t.throwsAsync(batch)
  world().proxies.outside.intervene = undefined
  await t.notThrowsAsync(confirmAll(signatures))
})

test.serial('no answer about an old signature decides nothing', async (t) => {
  const old = unusedSignature()
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await setRows(world(), 'tips', { id: old }, { recorded_at: long, due_at: new Date(0) })
  const fresh = await createRecordedTips(world(), 10)
  // One call fails, the others are answered.
  world().proxies.outside.alterReply = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.includes(old)
      ? { id: reply.id, error: { code: first.length > 1 ? -32602 : -32603, message: 'Internal error' } }
      : reply
  await confirmAll(fresh)
  t.is((await readTipRow(world(), old)).outcome, null)
  t.truthy((await readTipRow(world(), old)).due_at)
})

test.serial('an answer that is too short decides nothing about the missing signatures', async (t) => {
  const old = unusedSignature()
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await setRows(world(), 'tips', { id: old }, { recorded_at: long, due_at: new Date(0) })
  world().proxies.outside.alterReply = (method, _params, reply) =>
    method === 'getSignatureStatuses' ? { id: reply.id, result: { context: { slot: 1 }, value: [] } } : reply
  await batch().catch(() => undefined)
  t.is((await readTipRow(world(), old)).outcome, null)
})

/** Replaces the answer to a batch and to its halves: an HTTP status and a body. */
const answers: Record<string, readonly [number, string]> = {
  HTML: [200, '<html><body>Just a moment...</body></html>'],
  '429 with HTML': [429, '<html>'],
  '429 in JSON': [200, '{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests"},"id":null}'],
  '403 with HTML': [403, '<html>'],
  '502 with HTML': [502, '<html>'],
  'an empty body': [200, ''],
  'half an answer': [200, '[{"jsonrpc":"2.0","id":0,"resu'],
  null: [200, 'null'],
  'a text': [200, '"too many requests"'],
  'a number': [200, '42'],
  'an empty list': [200, '[]'],
  'a list of garbage': [200, '[null,1,"x",[],{},{"id":{}},{"id":0,"error":"no"}]'],
  'ids of no request': [
    200,
    '[{"id":4000000000,"result":{}},{"id":-1,"result":{}},{"id":"length","result":1},{"id":0.5,"result":{}}]',
  ],
  'results of another shape': [
    200,
    '[{"id":0,"result":"x"},{"id":1,"result":{"slot":"x"}},{"id":2,"result":[]}]',
  ],
  'an empty object': [200, '{}'],
  'an object of another kind': [200, '{"message":"no route matched"}'],
  'an error that is none': [200, '{"error":"Unauthorized"}'],
}

for (const [name, [status, body]] of Object.entries(answers))
  test.serial(`a batch answered with ${name} is requested again later and decides nothing`, async (t) => {
    const { outside } = world().proxies
    t.teardown(() => Object.assign(outside, { intervene: undefined }))
    const signatures = await createRecordedTips(world(), 5)
    let requests = 0
    outside.intervene = (_path, question) => {
      if (!question.includes('"getTransaction"')) return undefined
      requests += 1
      return { status, body }
    }
    await batch().catch((error: unknown) => t.true(error instanceof ProviderError, String(error)))
    t.true(requests > 0 && requests < 12, `${requests} requests`)
    for (const signature of signatures) {
      const tip = await readTipRow(world(), signature)
      t.like(tip, { status: 'pending', outcome: null, slot: null })
      t.true(tip.due_at.getTime() - Date.now() < 5000, 'it is checked again within seconds')
    }
    outside.intervene = undefined
    const all = async () => (await listUnconfirmed(world(), signatures)).length === 0
    await t.notThrowsAsync(runBatchUntil(batch, 'the tips are confirmed', all))
  })

/** A verifier with two endpoints: the test can break the first, the second works. */
async function twoEndpoints(t: ExecutionContext, genesis?: string) {
  const first = await startSandboxProxy(world().sandbox.url)
  const env = {
    ...world().env,
    SOLANA_RPC_URLS: `${first.url},${world().sandbox.url}`,
    ...(genesis && { SOLANA_GENESIS_HASH: genesis }),
  }
  const services = composeAs('verifier', env)
  t.teardown(async () => {
    await services.close()
    await first.close()
  })
  return { first, services, batch: createVerifierBatch(as('verifier', services)) }
}

const breakdowns: Record<string, (first: SandboxProxy) => void> = {
  'hangs up': (first) => Object.assign(first, { intervene: () => 'close' }),
  'answers 429': (first) => Object.assign(first, { intervene: () => ({ status: 429, body: '{}' }) }),
  'answers 403, as one whose key has run out': (first) =>
    Object.assign(first, { intervene: () => ({ status: 403, body: '<html>' }) }),
  'answers 500': (first) => Object.assign(first, { intervene: () => ({ status: 500, body: 'no' }) }),
  'answers HTML': (first) => Object.assign(first, { intervene: () => ({ status: 200, body: '<html>' }) }),
  'answers an internal error': (first) =>
    Object.assign(first, {
      alterReply: () => ({ id: 0, error: { code: -32603, message: 'Internal error' } }),
    }),
  'answers another shape': (first) =>
    Object.assign(first, { alterReply: () => ({ id: 0, result: { value: 'none' } }) }),
  'is stuck at an old slot': (first) =>
    Object.assign(first, {
      alterReply: (
        method: string,
        _params: unknown,
        reply: { id?: unknown; result?: { value: unknown[] } },
      ) =>
        method === 'getSignatureStatuses'
          ? { id: reply.id, result: { context: { slot: 1 }, value: reply.result?.value.map(() => null) } }
          : reply,
    }),
}

for (const [how, break_] of Object.entries(breakdowns))
  test.serial(`an endpoint that ${how} is skipped at once, and used again when it recovers`, async (t) => {
    const { first, batch, services } = await twoEndpoints(t)
    world().sandbox.chain.advance(400)
    await services.chain.statuses(await createRecordedTips(world(), 1))
    break_(first)
    const signatures = await createRecordedTips(world(), 12)
    await batch()
    t.deepEqual(await listUnconfirmed(world(), signatures), [])
    const failures = (await services.metrics.rpcFailures.get()).values
    t.deepEqual(
      failures.map(({ labels }) => labels.endpoint),
      [new URL(first.url).host],
      'an operator sees which endpoint fails',
    )
    Object.assign(first, { intervene: undefined, alterReply: undefined })
    const later = await createRecordedTips(world(), 3)
    await batch()
    t.deepEqual(await listUnconfirmed(world(), later), [])
  })

test.serial('a tip does not fail because one of two endpoints has lost its transaction', async (t) => {
  const { first, batch } = await twoEndpoints(t)
  const [signature = ''] = await createRecordedTips(world(), 1)
  await batch()
  t.is((await readTipRow(world(), signature)).status, 'confirmed')
  first.alterReply = (method, _params, reply) => {
    const { context, value } = reply.result as { context: object; value: unknown[] }
    return method === 'getSignatureStatuses'
      ? { id: reply.id, result: { context, value: value.map(() => null) } }
      : reply
  }
  world().sandbox.chain.advance(400)
  await world()
    .db('tips')
    .where({ id: signature })
    .update({ finalized_at: null, missing_since: new Date(0), due_at: new Date(0) })
  await batch()
  t.is((await readTipRow(world(), signature)).status, 'confirmed')
  t.truthy((await readTipRow(world(), signature)).due_at)
})

test.serial('the answers of an endpoint of another cluster are never used', async (t) => {
  const { first, batch } = await twoEndpoints(t, world().sandbox.chain.clock.genesisHash)
  first.alterReply = (method, _params, reply) =>
    method === 'getGenesisHash'
      ? { id: reply.id, result: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY' }
      : { id: reply.id, result: null }
  const signatures = await createRecordedTips(world(), 5)
  await batch()
  t.deepEqual(await listUnconfirmed(world(), signatures), [])
})

test('the answers of a node of another chain are never used, and those of the right chain are', async (t) => {
  const { sandbox, env } = world()
  const supporter = createSupporter(sandbox)
  const creatorWallet = unusedWallet()
  const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, 2_000_000)])
  await recordTip(world(), {
    creatorWallet,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    txSignature,
  })
  const anotherChain = encodeBase58(createHash('sha256').update('another chain').digest())
  const wrong = await startApp(t, { ...env, SOLANA_GENESIS_HASH: anotherChain })
  sandbox.calls.reset()
  await t.throwsAsync(createVerifierBatch(as('verifier', wrong.services)))
  t.deepEqual(Object.keys(sandbox.calls.all()), ['getGenesisHash'], 'nothing else is requested')
  t.like(await readTipRow(world(), txSignature), { status: 'pending', outcome: null })

  const request = await createClient(wrong.url)
  const { status, body } = await request('POST', '/payments/intent', {
    body: {
      creatorId: creatorWallet,
      amount: 1,
      inputTokenMint: tokenBySymbol('USDC')?.mint,
      sourceWalletAddress: supporter.wallet,
    },
  })
  t.is(`${status} ${body.error}`, '503 Service unavailable')

  const right = composeAs('verifier', { ...env, SOLANA_GENESIS_HASH: sandbox.chain.clock.genesisHash })
  t.teardown(() => right.close())
  const isConfirmed = async () => (await readTipRow(world(), txSignature)).status === 'confirmed'
  await t.notThrowsAsync(runBatchUntil(createVerifierBatch(right), 'the tip is confirmed', isConfirmed))
})
