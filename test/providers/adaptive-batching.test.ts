import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { ProviderError } from '../../src/kernel/provider-error.js'
import { BatchSize, inAdaptiveBatches } from '../../src/providers/solana/adaptive-batching.js'
import { readFinalizedEverywhere } from '../../src/providers/solana/finalized.js'
import { createJsonRpc } from '../../src/providers/solana/json-rpc.js'

const items = Array.from({ length: 40 }, (_, n) => n)

test('a batch that is refused is repeated in halves at once', async (t) => {
  const size = new BatchSize(40)
  const request = async (batch: readonly number[]) => {
    if (batch.length > 5) throw new ProviderError('rejected', 'too many')
    return [...batch]
  }
  t.deepEqual(
    (await inAdaptiveBatches(items, size, request)).toSorted((a, b) => a - b),
    items,
  )
})

test('what gets no answer is asked for in smaller batches the next time, until it does', async (t) => {
  const size = new BatchSize(40)
  const sizes: number[] = []
  const request = async (batch: readonly number[]) => {
    sizes.push(batch.length)
    if (batch.length > 5) throw new ProviderError('ambiguous', 'no complete answer in time')
    return [...batch]
  }
  const read = new Set<number>()
  for (let calls = 0; read.size < items.length && calls < 20; calls++) {
    const left = items.filter((item) => !read.has(item))
    const before = sizes.length
    for (const item of await inAdaptiveBatches(left, size, request).catch(() => [])) read.add(item)
    t.true(sizes.length - before <= 40, 'one call is not repeated')
  }
  t.is(read.size, items.length)
  t.deepEqual(sizes.slice(0, 3), [40, 20, 20])
})

test('an endpoint that hangs is asked a few times, not once for each signature', async (t) => {
  let requests = 0
  const server = createServer(() => {
    requests += 1
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const rpc = createJsonRpc({
    urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    genesisHash: undefined,
    onCall: () => undefined,
    onFailure: () => undefined,
    timeoutMs: 50,
  })
  const signatures = items.map((item) => `signature ${item}`)
  t.is((await readFinalizedEverywhere(rpc, signatures)).size, 0)
  t.true(requests <= 8, `${requests} requests`)
})
