import { type Chapter, code, guide, heading, list, table, text } from '../blocks.js'

export function events(base: string): Chapter {
  return {
    ...guide(
      'events',
      'Verifying events',
      text(
        'An event says that money arrived: a crypto tip confirmed on the chain, or a naira tip settled by the provider. Pending tips are never events. There are two ways to hear of them.',
      ),
      table(
        ['What', 'Polling', 'Stream'],
        ['Call', '[GET /sdk/events](#get-sdk-events)', '[GET /chain/tips/stream](#get-chain-tips-stream)'],
        ['Credential', 'API key', 'none; the wallet is public'],
        ['For', 'your server: deliver, count, thank', 'screens: overlays, counters'],
        ['How soon', 'your rhythm, 30 to 60 seconds', 'under a second'],
        ['Where to go on from', '`since`', '`Last-Event-ID`'],
      ),
      heading('Each event once'),
      list(
        'A creator’s confirmations have strictly increasing `timestamp`s in the order they became visible. Give the newest you have **processed** as `since`, and none is skipped.',
        'Store `eventId` with what you deliver, and refuse to deliver one twice: your process may stop between delivering and storing `since`.',
        'More than 50 since the last time? Page back with `before` until an answer has fewer. The client does it.',
      ),
      heading('What to check'),
      list(
        '`tokenSymbol` and `amountRaw` say what was given. `amountUsdc` is filled for USDC alone: never read a 0 there as nothing.',
        'A naira event has `tokenSymbol: "FIAT"` and cents in `amountRaw`.',
        'Match the tip to your visitor by the session’s intent: [GET /sdk/intents](#get-sdk-intents-intentId) gives its `signature`, which is the `eventId`.',
      ),
      text(
        'The service sends no webhooks. What a page posts to yours, and what a supporter shows you, is no proof.',
      ),
    ),
    beside: [
      code(
        'ts',
        'A worker that delivers each tip once',
        "import { createBackendClient } from 'tipping-service/client'",
        '',
        `const backend = createBackendClient({ baseUrl: '${base}', apiKey })`,
        'const since = await store.lastTimestamp()',
        '',
        'for await (const event of backend.events({ creatorId, since, pollMs: 30_000 })) {',
        '  await store.inTransaction(async (tx) => {',
        '    if (await tx.isNew(event.eventId)) await tx.deliver(event)',
        '    await tx.setLastTimestamp(event.timestamp)',
        '  })',
        '}',
      ),
    ],
  }
}
