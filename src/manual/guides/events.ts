import { type Chapter, code, guide, heading, list, table, text } from '../blocks.js'

export function events(base: string): Chapter {
  return {
    ...guide(
      'events',
      'Verifying events',
      text(
        'An event means that money arrived: a crypto tip was confirmed on the chain, or a naira tip was paid. Pending tips are not events. There are two ways to get events.',
      ),
      table(
        ['What', 'Polling', 'Stream'],
        ['Call', '[GET /sdk/events](#get-sdk-events)', '[GET /chain/tips/stream](#get-chain-tips-stream)'],
        ['Credential', 'API key', 'none; the wallet is public'],
        ['For', 'your server: deliver, count, thank', 'screens: overlays, counters'],
        ['Delay', 'your polling interval, 30 to 60 seconds', 'under a second'],
        ['Continue with', '`since`', '`Last-Event-ID`'],
      ),
      heading('Each event once'),
      list(
        'The `timestamp`s of a creator’s events increase strictly, in the order in which the events became visible. Send the newest one you have **processed** as `since`, and no event is skipped.',
        'Store `eventId` with what you deliver, and do not deliver the same one twice: your process may stop between delivering and storing `since`.',
        'If there are more than 50 new events, page back with `before` until an answer has fewer. The client does this for you.',
      ),
      heading('What to check'),
      list(
        '`tokenSymbol` and `amountRaw` say what was tipped. `amountUsdc` is set for USDC only: a 0 there does not mean that nothing was tipped.',
        'A naira event has `tokenSymbol: "FIAT"` and cents in `amountRaw`.',
        'Match the tip to your visitor by the session’s intent: [GET /sdk/intents](#get-sdk-intents) gives its `eventId`, in crypto and in naira.',
      ),
      text(
        'The service sends no webhooks. A message from the checkout to your page is no proof of a tip, and neither is anything a supporter shows you.',
      ),
    ),
    samples: [
      code(
        'ts',
        'A worker that delivers each tip once',
        "import { createBackendClient } from 'tipping-client'",
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
