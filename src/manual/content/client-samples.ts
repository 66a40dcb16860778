const backend = [
  "import { createBackendClient } from 'tipping-client'",
  '',
  "const backend = createBackendClient({ baseUrl: 'BASE', apiKey })",
]
const page = [
  "import { createTipClient } from 'tipping-client'",
  '',
  "const page = createTipClient({ baseUrl: 'BASE', sessionToken })",
]

/** Samples with the typed client, for the calls that it covers. `BASE` stands for the service's address. */
export const clientSamples: Readonly<Record<string, readonly string[]>> = {
  'post /sdk/init': [
    ...backend,
    'const { sessionToken, config } = await backend.init({',
    '  creatorId,',
    "  originUrl: 'https://example.com/tip',",
    '})',
  ],
  'get /sdk/events': [
    ...backend,
    '// Oldest first, each once. Store the timestamp of the last one you processed, and send it as since.',
    'for await (const event of backend.events({ creatorId, since, pollMs: 30_000 })) {',
    '  await deliver(event)',
    '  since = event.timestamp',
    '}',
  ],
  'post /sdk/tip': [
    ...page,
    'const intent = await page.tip({ creatorId, amount: 5, inputTokenMint, sourceWalletAddress })',
    '// The wallet signs and submits intent.transaction; then page.record(...) and page.settled(...).',
  ],
  'get /sdk/session': [...page, 'const { creator, tokens, limits } = await page.session()'],
  'get /sdk/intents/{intentId}': [
    ...page,
    '// Polls until it is confirmed, has failed or has expired.',
    'const { status, signature } = await page.settled(intentId)',
  ],
  'post /chain/tips/create': [
    ...page,
    'await page.record({',
    '  intentId,',
    '  txSignature,',
    '  creatorWallet,',
    '  senderWallet,',
    '  tipAmount: 5_000_000,',
    "  tokenSymbol: 'USDC',",
    "  message: 'for the album',",
    '})',
  ],
  'get /chain/tips/stream': [
    "import { streamTips } from 'tipping-client'",
    '',
    '// Reconnects by itself and continues after the last tip.',
    "for await (const tip of streamTips({ baseUrl: 'BASE', wallet, lastEventId })) {",
    '  show(tip)',
    '  lastEventId = tip.id',
    '}',
  ],
}
