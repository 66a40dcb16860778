import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { tokenBySymbol } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { createClient } from '../../helpers/http/client.js'
import { solTransfer } from '../../helpers/make/instructions.js'
import { createRecordedTips, listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { type SandboxProxy, startSandboxProxy } from '../../helpers/proxies/sandbox-proxy.js'
import { as, composeAs } from '../../helpers/servers/roles.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true })

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
