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

/** From nothing to an event. A test runs these very lines; `<name>` stands for what an earlier line answered. */
export function quickstart(base: string): Chapter {
  return {
    ...guide(
      'quickstart',
      'Quickstart',
      text(
        'Five minutes from nothing to a tip on your own page: an account, an API key, a session, an iframe, an event. Put what you were answered where it says `<name>`; the answers shown are shortened.',
      ),
    ),
    sections: [account(base), apiKey(base), session(base), checkout(), tip(base), event(base), fromHere()],
  }
}

function step(id: string, title: string, blocks: readonly Block[], beside: readonly Code[]): Section {
  return { id: `quickstart-${id}`, title, blocks, beside }
}

function account(base: string): Section {
  return step(
    'account',
    '1. An account',
    [text('It is also the creator who is tipped. The cookie of its session goes into `jar.txt`.')],
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
        'Your server proves with it who you are. It is shown this once: keep it where your other secrets are. Whoever has it acts for you.',
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
      text('Your backend opens one for every visitor who is shown the checkout. It lives 15 minutes.'),
      text(
        '`originUrl` is where your page lives. `localhost` is always allowed; other sites go on [the whitelist](#put-creators-domains) first.',
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
          "import { createBackendClient } from 'tipping-service/client'",
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
        'Your server writes the `embedUrl` of the visitor’s session into the page. To try it, save this as `index.html` and run `python3 -m http.server 5173` beside it.',
      ),
      text(
        '[embed.js](#embed) does more: it follows the height of the checkout and lends it the wallets of your page.',
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

function tip(base: string): Section {
  return step(
    'tip',
    '5. A tip',
    [
      text('Open `http://localhost:5173` and tip, with a wallet or in naira.'),
      text(
        'Or without a browser: a naira tip is two lines. The second plays the payer’s bank and exists on a [local stack](#local-testing) alone; elsewhere open the `checkoutUrl` you were answered, and pay.',
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
        'curl -s http://localhost:8899/dev/fiatpay/charges/<intentId> \\',
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
        'Your backend asks every 30 to 60 seconds, and delivers what it owes the supporter. This is the truth; what the checkout tells your page is a hint.',
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

function fromHere(): Section {
  return step(
    'next',
    'From here',
    [
      steps(
        'Follow the checkout from your page: [Embed and messages](#embed).',
        'Count what came in: [Tokens and amounts](#tokens) and [Verifying events](#events).',
        'Before others use it: [Going live](#going-live).',
      ),
      note('On a local stack nothing moves real money: its chain, its bank and its mails are stand-ins.'),
    ],
    [],
  )
}
