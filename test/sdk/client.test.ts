import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import {
  createBackendClient,
  createTipClient,
  type StreamedTip,
  streamTips,
  type TipCompleted,
  TippingError,
} from '../../src/sdk/client/index.js'
import { createEventParser } from '../../src/sdk/client/sse-parser.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { installClient } from '../helpers/install-client.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { registerEmbedder, sdkTipBody, site } from '../helpers/make/sdk.js'
import { createSupporter, unusedWallet } from '../helpers/make/supporter.js'
import { runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** Closes each connection, because the leak check counts kept connections. */
const once: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...init?.headers, connection: 'close' } })

async function confirmNumber(wallet: string, count: number): Promise<string[]> {
  const confirmations = Array.from({ length: count }, () => someConfirmation(wallet))
  await createConfirmedTips(world(), confirmations)
  return confirmations.map(({ id }) => id)
}

const run = promisify(execFile)

test('the packed client installs without network and works as ES module and CommonJS, with its types', async (t) => {
  t.timeout(120_000)
  const folder = temporaryFolder(t)
  const { bytes, packages } = await installClient(folder)
  t.true(bytes <= 12 * 1024, `${bytes} bytes`)
  t.deepEqual(packages, ['', 'node_modules/tipping-client'], 'no dependencies')

  const use = `const client = createTipClient({ baseUrl: '${world().url}', sessionToken: 'sdk_sess_x' })
client.session().catch((error: unknown) => console.log(error instanceof TippingError && error.status))\n`
  const names = '{ createTipClient, TippingError }'
  writeFileSync(join(folder, 'esm.mts'), `import ${names} from 'tipping-client'\n${use}`)
  writeFileSync(join(folder, 'cjs.cts'), `import ${names} from 'tipping-client'\n${use}`)
  const tsc = [join(process.cwd(), 'node_modules/typescript/bin/tsc'), 'esm.mts', 'cjs.cts', '--strict']
  const options = ['--module', 'node16', '--target', 'es2022', '--lib', 'es2023,dom']
  await run(process.execPath, [...tsc, ...options], { cwd: folder })
  for (const script of ['esm.mjs', 'cjs.cjs'])
    t.is((await run(process.execPath, [script], { cwd: folder })).stdout, '401\n', script)
})

test('a tip goes from the backend’s session to the page’s payment and the backend’s event', async (t) => {
  const embedder = await registerEmbedder(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const baseUrl = `${world().url}/`
  const backend = createBackendClient({ baseUrl, apiKey: embedder.apiKey, fetch: once })
  const { sessionToken, config } = await backend.init({
    creatorId: embedder.id,
    originUrl: site,
    theme: 'light',
  })
  t.is(config.creatorId, embedder.id)

  const faults: (() => Response)[] = []
  const flaky: typeof fetch = async (input, init) => faults.pop()?.() ?? once(input, init)
  const page = createTipClient({ baseUrl, sessionToken, fetch: flaky })
  const { tokens } = await page.session()
  const usdc = tokens.find(({ symbol }) => symbol === 'USDC')
  const intent = await page.tip(
    sdkTipBody(embedder, { sourceWalletAddress: supporter.wallet, inputTokenMint: usdc?.mint }),
  )
  t.is(intent.status, 'requires_action')
  const txSignature = supporter.pay(intent.transaction)
  const recorded = await page.record({
    intentId: intent.intentId,
    txSignature,
    creatorWallet: embedder.wallet,
    senderWallet: supporter.wallet,
    tipAmount: 5_000_000,
    tokenSymbol: 'USDC',
    message: 'thank you',
  })
  t.is(recorded.tip.id, txSignature)
  t.is((await page.intent(intent.intentId)).status, 'submitted')
  faults.push(() =>
    Response.json({ success: false, error: 'x', code: 'service_unavailable' }, { status: 503 }),
  )
  const settled = page.settled(intent.intentId, { pollMs: 20 })
  const batch = createVerifierBatch(as('verifier', world().services))
  await runBatchUntil(
    batch,
    'confirmed',
    async () => (await page.intent(intent.intentId)).status === 'confirmed',
  )
  t.like(await settled, { status: 'confirmed', signature: txSignature })
  t.is(faults.length, 0, 'a fault did not end it')

  const events = backend.tipEvents({ creatorId: embedder.id })
  t.like((await events.next()).value, { txSignature, amountUsdc: 5 })
  t.true((await events.next()).done)
})

test('errors have message, code, status and request id', async (t) => {
  const { apiKey, id } = await registerEmbedder(world())
  const baseUrl = world().url
  const refused = (work: Promise<unknown>) => t.throwsAsync(work, { instanceOf: TippingError })
  const wrongKey = createBackendClient({ baseUrl, apiKey: 'no key', fetch: once })
  const unauthorized = await refused(wrongKey.init({ creatorId: id, originUrl: site }))
  t.like(unauthorized, {
    message: 'Missing or invalid API key',
    code: 'invalid_api_key',
    status: 401,
    temporary: false,
  })
  t.regex(unauthorized?.requestId ?? '', /^[0-9a-f-]{36}$/)
  await refused(wrongKey.tipEvents({ creatorId: id, pollMs: 1 }).next())
  const nowhere = createBackendClient({ baseUrl: 'http://127.0.0.1:1', apiKey })
  t.like(await refused(nowhere.init({ creatorId: id, originUrl: site })), {
    code: 'network',
    status: 0,
    temporary: true,
  })
  const page = async () => new Response('<html>', { status: 200 })
  const wrongService = createBackendClient({ baseUrl, apiKey, fetch: page })
  t.like(await refused(wrongService.init({ creatorId: id, originUrl: site })), {
    code: 'bad_answer',
    status: 200,
  })
  for (const [status, code, temporary] of [
    [409, 'request_in_progress', true],
    [409, 'tip_refunded', false],
    [502, 'payment_refused', false],
  ] as const) {
    const refusal = async () => Response.json({ success: false, error: 'Refused', code }, { status })
    const refusing = createBackendClient({ baseUrl, apiKey, fetch: refusal })
    t.like(await refused(refusing.init({ creatorId: id, originUrl: site })), { code, temporary })
  }
  const streamed = await refused(streamTips({ baseUrl, wallet: 'x', fetch: once }).next())
  t.like(streamed, { code: 'invalid_wallet', status: 400 })
})

test('tip events come oldest first across pages, and since continues after the last event', async (t) => {
  const embedder = await registerEmbedder(world())
  const { tipEvents } = createBackendClient({ baseUrl: world().url, apiKey: embedder.apiKey, fetch: once })
  const ids = await confirmNumber(embedder.wallet, 150)
  const seen: TipCompleted[] = []
  for await (const event of tipEvents({ creatorId: embedder.id })) seen.push(event)
  t.deepEqual(seen.map(({ eventId }) => eventId).toSorted(), ids.toSorted())
  t.deepEqual(
    seen.map(({ timestamp }) => timestamp),
    seen.map(({ timestamp }) => timestamp).toSorted(),
  )
  const [late] = await confirmNumber(embedder.wallet, 1)
  const since = seen.at(-1)?.timestamp ?? ''
  const rest = []
  for await (const { eventId } of tipEvents({ creatorId: embedder.id, since })) rest.push(eventId)
  t.deepEqual(rest, [late])
})

test('polling for tip events retries temporary failures and ends when the signal is aborted', async (t) => {
  const embedder = await registerEmbedder(world())
  let calls = 0
  const flaky: typeof fetch = async (input, init) => {
    calls += 1
    if (calls % 3 === 1) throw new TypeError('the network is unavailable')
    if (calls % 3 === 2)
      return Response.json(
        { success: false, error: 'Service unavailable', code: 'service_unavailable', requestId: '1' },
        { status: 503 },
      )
    return once(input, init)
  }
  const stop = new AbortController()
  const { tipEvents } = createBackendClient({ baseUrl: world().url, apiKey: embedder.apiKey, fetch: flaky })
  const seen: string[] = []
  const reading = (async () => {
    for await (const { eventId } of tipEvents({ creatorId: embedder.id, pollMs: 5, signal: stop.signal }))
      seen.push(eventId)
  })()
  const ids = await confirmNumber(embedder.wallet, 3)
  await until('three events', () => seen.length === 3)
  ids.push(...(await confirmNumber(embedder.wallet, 2)))
  await until('five events', () => seen.length === 5)
  stop.abort()
  await reading
  t.deepEqual(seen.toSorted(), ids.toSorted())
})

/** A fetch whose connections break after so many chunks. It records each request's Last-Event-ID header. */
function breakingFetch(chunks: number): { fetch: typeof fetch; lastEventIds: (string | null)[] } {
  const lastEventIds: (string | null)[] = []
  return {
    lastEventIds,
    async fetch(input, init) {
      lastEventIds.push(new Headers(init?.headers).get('last-event-id'))
      const response = await once(input, init)
      const reader = response.body?.getReader()
      let left = chunks
      const body = new ReadableStream({
        async pull(controller) {
          const part = left-- > 0 ? await reader?.read() : undefined
          if (part?.value !== undefined) return controller.enqueue(part.value)
          controller.error(new TypeError('the connection broke'))
          await reader?.cancel().catch(() => undefined)
        },
        cancel: (reason) => reader?.cancel(reason),
      })
      return new Response(body, { status: response.status, headers: response.headers })
    },
  }
}

test('a stream whose connections break brings every tip once, in order', async (t) => {
  const wallet = unusedWallet()
  const { fetch, lastEventIds } = breakingFetch(3)
  const stop = new AbortController()
  const seen: StreamedTip[] = []
  const reading = (async () => {
    const options = { baseUrl: world().url, wallet, retryMs: 5, signal: stop.signal, fetch, lastEventId: '0' }
    for await (const tip of streamTips(options)) seen.push(tip)
  })()
  const ids: string[] = []
  for (let round = 0; round < 8; round++) {
    ids.push(...(await confirmNumber(wallet, 5)))
    await until('the tips of this round', () => seen.length >= ids.length)
  }
  stop.abort()
  await reading
  t.is(seen.length, ids.length)
  t.is(new Set(seen.map(({ id }) => id)).size, ids.length)
  t.deepEqual(
    seen.map(({ id }) => Number(id)),
    seen.map(({ id }) => Number(id)).toSorted((a, b) => a - b),
  )
  t.like(seen[0], { type: 'tip', amount: 1, tokenSymbol: 'USDC' })
  t.true(lastEventIds.length > 3, `${lastEventIds.length} connections`)
  t.is(lastEventIds[0], '0')
  t.true(lastEventIds.slice(-1).every((id) => seen.some((tip) => tip.id === id)))
})

test('leaving the loop closes the connection', async (t) => {
  const wallet = unusedWallet()
  await confirmNumber(wallet, 2)
  let connectionSignal: AbortSignal | null | undefined
  const observedFetch: typeof fetch = (input, init) => {
    connectionSignal = init?.signal
    return once(input, init)
  }
  for await (const tip of streamTips({
    baseUrl: world().url,
    wallet,
    lastEventId: '0',
    fetch: observedFetch,
  })) {
    t.is(tip.type, 'tip')
    break
  }
  t.true(connectionSignal?.aborted)
})

test('the event parser gives the same events for any chunk size and line break', (t) => {
  const text =
    'retry: 10000\n\n:\n\nid: 5\ndata: {"a":1}\n\ndata:one\ndata: two\nunknown: x\n\nid\ndata: é€😀\n\n'
  const expected = [
    { retryMs: 10_000 },
    {},
    { id: '5', data: '{"a":1}' },
    { data: 'one\ntwo' },
    { id: '', data: 'é€😀' },
  ]
  for (const lineBreak of ['\n', '\r\n', '\r'])
    for (let size = 1; size <= text.length; size++) {
      const parse = createEventParser()
      const stream = `${text.replaceAll('\n', lineBreak)}:`
      const events = []
      for (let at = 0; at < stream.length; at += size) events.push(...parse(stream.slice(at, at + size)))
      t.deepEqual(events, expected, `${JSON.stringify(lineBreak)} in chunks of ${size}`)
    }
})
