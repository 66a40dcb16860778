import {
  type Block,
  type Chapter,
  type Code,
  code,
  guide,
  note,
  type Section,
  steps,
  text,
} from '../blocks.js'

const json = "-H 'Content-Type: application/json'"

/** From registration to an event. A test runs these commands; `<name>` stands for a value of an earlier answer. */
export function quickstart(base: string, standIns: string): Chapter {
  return {
    ...guide(
      'quickstart',
      'Quickstart',
      text(
        'A tip on your own page in five minutes: an account, an API key, a session, an iframe, an event. Replace each `<name>` with the value from an earlier answer. The answers shown here are shortened.',
      ),
    ),
    sections: [
      account(base),
      apiKey(base),
      session(base),
      checkout(),
      tip(base, standIns),
      event(base),
      nextSteps(),
    ],
  }
}

function step(id: string, title: string, blocks: readonly Block[], samples: readonly Code[]): Section {
  return { id: `quickstart-${id}`, title, blocks, samples }
}

function account(base: string): Section {
  return step(
    'account',
    '1. An account',
    [
      text(
        'The account is also the creator who receives the tips. Its session cookie is saved in `jar.txt`.',
      ),
    ],
    [
      code(
        'sh',
        'Your terminal',
        `curl -s -c jar.txt ${base}/auth/register \\`,
        `  ${json} \\`,
        `  -d '{"email":"ada@example.com","password":"correct horse","name":"Ada Obi"}'`,
      ),
      code(
        'json',
        'Answer',
        '{',
        '  "success": true,',
        '  "user": { "id": "3f6c1e9a-8d1b-4c58-9f0e-2b7a4d5c6e10", "name": "Ada Obi" }',
        '}',
      ),
    ],
  )
}

function apiKey(base: string): Section {
  return step(
    'api-key',
    '2. An API key',
    [
      text(
        'Your server authenticates with it. It is shown only once: keep it with your other secrets. Anyone who has it can act for you.',
      ),
    ],
    [
      code(
        'sh',
        'Your terminal',
        `curl -s -b jar.txt ${base}/creators/api-keys \\`,
        `  ${json} \\`,
        `  -d '{"label":"my backend"}'`,
      ),
      code('json', 'Answer', '{ "success": true, "apiKey": "tk_live_7c921cdc9c0b0fd3_9mTq2V…" }'),
    ],
  )
}

function session(base: string): Section {
  return step(
    'session',
    '3. A session',
    [
      text(
        'Your backend opens a session for every visitor who sees the checkout. It is valid for 15 minutes.',
      ),
      text(
        '`originUrl` is the address of your page. `localhost` is always allowed; add other sites to [the whitelist](#put-creators-domains) first.',
      ),
    ],
    [
      code(
        'sh',
        'Your backend',
        `curl -s ${base}/sdk/init \\`,
        "  -H 'Authorization: Bearer <apiKey>' \\",
        `  ${json} \\`,
        `  -d '{"creatorId":"<user.id>","originUrl":"http://localhost:5173"}'`,
      ),
      {
        ...code(
          'ts',
          'The same in TypeScript',
          "import { createBackendClient } from 'tipping-client'",
          '',
          'const backend = createBackendClient({',
          `  baseUrl: '${base}',`,
          '  apiKey,',
          '})',
          'const { config } = await backend.init({',
          '  creatorId,',
          "  originUrl: 'http://localhost:5173',",
          '})',
        ),
        folded: true,
      },
      code(
        'json',
        'Answer',
        '{',
        '  "success": true,',
        '  "sessionToken": "sdk_sess_0d9e…",',
        '  "config": {',
        `    "embedUrl": "${base}/embed/Zr4kq2Vw?theme=dark#sdk_sess_0d9e…"`,
        '  }',
        '}',
      ),
    ],
  )
}

function checkout(): Section {
  return step(
    'checkout',
    '4. The checkout on your page',
    [
      text(
        'Your server writes the `embedUrl` of the visitor’s session into the page. To try it, save this as `index.html` and run `python3 -m http.server 5173` in the same folder.',
      ),
      text(
        '[embed.js](#embed) does more: it adjusts the height of the frame and relays the wallets of your page.',
      ),
    ],
    [
      code(
        'html',
        'index.html',
        '<!doctype html>',
        '<meta charset="utf-8">',
        '<title>Tip Ada</title>',
        '<iframe src="<config.embedUrl>" title="Tip Ada Obi"',
        '        width="420" height="640" allow="clipboard-write"></iframe>',
      ),
    ],
  )
}

function tip(base: string, standIns: string): Section {
  return step(
    'tip',
    '5. A tip',
    [
      text('Open `http://localhost:5173` and tip, with a wallet or in naira.'),
      text(
        'Or make a naira tip without a browser, with these two commands. The second one acts as the payer’s bank and works only on a [local stack](#local-testing); elsewhere open the `checkoutUrl` from the answer, and pay.',
      ),
    ],
    [
      code(
        'sh',
        'Your terminal',
        `curl -s ${base}/payments/fiat/intent \\`,
        `  ${json} \\`,
        `  -d '{"creatorId":"<user.id>","amount":20,"senderName":"Chidi","memo":"for the album"}'`,
      ),
      code(
        'sh',
        'The bank of a local stack',
        `curl -s ${standIns}/dev/fiatpay/charges/<intentId> \\`,
        `  ${json} \\`,
        `  -d '{"outcome":"paid"}'`,
      ),
    ],
  )
}

function event(base: string): Section {
  return step(
    'event',
    '6. The event',
    [
      text(
        'Your backend polls every 30 to 60 seconds and delivers what the supporter paid for. Only events prove a tip; messages from the checkout to your page are for display.',
      ),
    ],
    [
      code(
        'sh',
        'Your backend',
        `curl -s '${base}/sdk/events?creatorId=<user.id>' \\`,
        "  -H 'Authorization: Bearer <apiKey>'",
      ),
      {
        ...code(
          'ts',
          'The same in TypeScript',
          '// Each event once, oldest first.',
          'const all = backend.events({ creatorId, since, pollMs: 30_000 })',
          'for await (const event of all) await thank(event.sender)',
        ),
        folded: true,
      },
      code(
        'json',
        'Answer',
        '{',
        '  "success": true,',
        '  "events": [',
        '    {',
        '      "type": "tip_completed",',
        '      "tokenSymbol": "FIAT",',
        '      "amountRaw": 2000,',
        '      "sender": "Chidi"',
        '    }',
        '  ]',
        '}',
      ),
    ],
  )
}

function nextSteps(): Section {
  return step(
    'next',
    'Next steps',
    [
      steps(
        'React to what happens in the checkout: [Embed and messages](#embed).',
        'Read amounts and events: [Tokens and amounts](#tokens) and [Verifying events](#events).',
        'Show tips in a stream: [Overlay for streams](#overlay).',
        'Before others use it: [Going live](#going-live).',
      ),
      note('A local stack moves no real money: its chain, its bank and its mail server are stand-ins.'),
    ],
    [],
  )
}
