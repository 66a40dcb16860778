import test, { type ExecutionContext } from 'ava'
import type { TcpProxy } from '../../scripts/kit/tcp-proxy.js'
import { solMint } from '../../src/kernel/tokens.js'
import { createBatchLoop } from '../../src/platform/worker/batch-loop.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { createClient } from '../helpers/http/client.js'
import { createRecordedTips, listUnconfirmed } from '../helpers/make/landed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { readTipRow } from '../helpers/make/tips.js'
import { tcpProxyFor } from '../helpers/proxies/tcp-proxy.js'
import { as, composeAs } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** A call of the verifier times out after ten seconds, one of a request after three. */
const [batchCallMs, requestCallMs] = [10_000, 3000]

/** A node that accepts connections and never answers. */
async function hungNode(t: ExecutionContext): Promise<TcpProxy> {
  const wire = await tcpProxyFor(t, world().sandbox.url)
  wire.hold(true)
  return wire
}

/** Starts a verifier with these nodes. Returns the failures of its batches. */
function startVerifier(t: ExecutionContext, nodes: readonly string[]): readonly unknown[] {
  const services = composeAs('verifier', { ...world().env, SOLANA_RPC_URLS: nodes.join(',') })
  const failures: unknown[] = []
  const loop = createBatchLoop(createVerifierBatch(as('verifier', services)), (error) => failures.push(error))
  t.teardown(async () => {
    await loop.stop()
    await services.close()
  })
  void loop.wake()
  return failures
}

const areConfirmed = (signatures: readonly string[]) => async () =>
  (await listUnconfirmed(world(), signatures)).length === 0

test.serial('tips are confirmed through the second node while the first one hangs', async (t) => {
  const { url } = await hungNode(t)
  const first = await createRecordedTips(world(), 20)
  const startedAt = performance.now()
  const failures = startVerifier(t, [url, world().sandbox.url])
  await until('they are confirmed', areConfirmed(first))
  t.log(`confirmed after ${Math.round(performance.now() - startedAt)} ms`)
  const next = await createRecordedTips(world(), 20)
  await until('the next tips do not wait for the hung node again', areConfirmed(next), batchCallMs)
  t.deepEqual(failures, [])
})

test.serial('tips wait while the only node hangs, and are confirmed when it answers again', async (t) => {
  const node = await hungNode(t)
  const signatures = await createRecordedTips(world(), 20)
  const failures = startVerifier(t, [node.url])
  await until('a batch has failed', () => failures.length > 0)
  for (const signature of signatures)
    t.like(await readTipRow(world(), signature), { status: 'pending', outcome: null, slot: null })
  node.hold(false)
  // The call that hangs may have to time out first.
  await until('they are confirmed', areConfirmed(signatures))
})

/** Returns a function that requests an intent from an app with these nodes and measures the milliseconds. */
async function intentRequester(t: ExecutionContext, nodes: readonly string[]) {
  const { url } = await startApp(t, { ...world().env, SOLANA_RPC_URLS: nodes.join(',') })
  const body = { creatorId: unusedWallet(), sourceWalletAddress: unusedWallet(), amount: 0.1 }
  const request = await createClient(url)
  return async () => {
    const startedAt = performance.now()
    const { status, body: answer } = await request<{ error?: string }>('POST', '/payments/intent', {
      body: { ...body, inputTokenMint: solMint },
    })
    return { status, error: answer.error, ms: Math.round(performance.now() - startedAt) }
  }
}

test.serial('a supporter waits three seconds for a hung node, then the second one serves', async (t) => {
  const requestIntent = await intentRequester(t, [(await hungNode(t)).url, world().sandbox.url])
  const first = await requestIntent()
  // One of several, because a loaded machine is slow by itself.
  const further = [await requestIntent(), await requestIntent(), await requestIntent()]
  t.log(first, further)
  t.is(first.status, 200)
  t.true(first.ms < 15_000, `${first.ms} ms`)
  t.deepEqual([...new Set(further.map(({ status }) => status))], [200])
  const quickest = Math.min(...further.map(({ ms }) => ms))
  t.true(quickest < requestCallMs, 'the hung node is not waited for again')
})

test.serial('a supporter gets a clear error while every node hangs, and an intent afterwards', async (t) => {
  const nodes = [await hungNode(t), await hungNode(t)]
  const requestIntent = await intentRequester(
    t,
    nodes.map(({ url }) => url),
  )
  const refused = await requestIntent()
  t.log(refused)
  t.is(`${refused.status} ${refused.error}`, '503 Service unavailable')
  t.true(refused.ms < 20_000, `${refused.ms} ms`)
  for (const node of nodes) node.hold(false)
  t.is((await requestIntent()).status, 200)
})
