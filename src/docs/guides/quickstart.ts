import { type Chapter, code, guide, heading, note, steps, text } from '../blocks.js'

const json = "-H 'Content-Type: application/json'"

/** From nothing to an event. A test runs these very lines; `<name>` stands for what an earlier line answered. */
export function quickstart(base: string): Chapter {
  return guide(
    'quickstart',
    'Quickstart',
    text(
      'Five minutes from nothing to a tip on your own page: an account, an API key, a session, an iframe, an event. Lines in **Answer** are shortened; put what you were answered where it says `<name>`.',
    ),
    heading('1. An account'),
    text('It is also the creator who is tipped. The cookie of its session goes into `jar.txt`.'),
    code(
      'sh',
      'Your terminal',
      `curl -s -c jar.txt ${base}/auth/register ${json} \\`,
      `  -d '{"email":"ada@example.com","password":"correct horse","name":"Ada Obi"}'`,
    ),
    code(
      'json',
      'Answer',
      '{ "success": true, "user": { "id": "3f6c1e9a-8d1b-4c58-9f0e-2b7a4d5c6e10", "name": "Ada Obi" } }',
    ),
    heading('2. An API key'),
    text('It is shown this once. Keep it on your server: whoever has it acts for you.'),
    code(
      'sh',
      'Your terminal',
      `curl -s -b jar.txt ${base}/creators/api-keys ${json} -d '{"label":"my backend"}'`,
    ),
    code('json', 'Answer', '{ "success": true, "apiKey": "tk_live_7c921cdc9c0b0fd3_9mTq2V…" }'),
    heading('3. A session, opened by your backend'),
    text(
      '`originUrl` is where your page lives. `localhost` is always allowed; other sites go on the [whitelist](#put-creators-domains) first.',
    ),
    code(
      'sh',
      'Your backend',
      `curl -s ${base}/sdk/init -H 'Authorization: Bearer <apiKey>' ${json} \\`,
      `  -d '{"creatorId":"<user.id>","originUrl":"http://localhost:5173"}'`,
    ),
    {
      ...code(
        'ts',
        'The same in TypeScript',
        "import { createBackendClient } from 'tipping-service/client'",
        '',
        `const backend = createBackendClient({ baseUrl: '${base}', apiKey })`,
        "const { config } = await backend.init({ creatorId, originUrl: 'http://localhost:5173' })",
      ),
      folded: true,
    },
    code(
      'json',
      'Answer',
      `{ "success": true, "sessionToken": "sdk_sess_0d9e…", "config": { "embedUrl": "${base}/embed/Zr4kq2Vw?theme=dark#sdk_sess_0d9e…" } }`,
    ),
    heading('4. The checkout on your page'),
    text(
      'Open a new session for every visitor: your server writes its `embedUrl` into the page. Save this as `index.html` and serve it with `python3 -m http.server 5173`.',
    ),
    code(
      'html',
      'index.html',
      '<!doctype html>',
      '<meta charset="utf-8">',
      '<title>Tip Ada</title>',
      '<iframe src="<config.embedUrl>" title="Tip Ada Obi"',
      '        width="420" height="640" allow="clipboard-write"></iframe>',
    ),
    heading('5. A tip'),
    text(
      'Open `http://localhost:5173` and tip with a wallet or in naira. Without a browser, a naira tip takes two lines; the second plays the payer’s bank and exists on a [local stack](#local-testing) alone. Elsewhere open the `checkoutUrl` of the answer and pay.',
    ),
    code(
      'sh',
      'Your terminal',
      `curl -s ${base}/payments/fiat/intent ${json} \\`,
      `  -d '{"creatorId":"<user.id>","amount":20,"senderName":"Chidi","memo":"for the album"}'`,
      '',
      `curl -s http://localhost:8899/dev/fiatpay/charges/<intentId> ${json} -d '{"outcome":"paid"}'`,
    ),
    heading('6. The event'),
    text(
      'Your backend asks every 30 to 60 seconds and thanks the supporter. This is the truth; what a page tells your page is a hint.',
    ),
    code(
      'sh',
      'Your backend',
      `curl -s '${base}/sdk/events?creatorId=<user.id>' -H 'Authorization: Bearer <apiKey>'`,
    ),
    {
      ...code(
        'ts',
        'The same in TypeScript',
        'for await (const event of backend.events({ creatorId, since, pollMs: 30_000 })) {',
        '  await thank(event.sender) // each event once, oldest first',
        '}',
      ),
      folded: true,
    },
    code(
      'json',
      'Answer',
      '{ "success": true, "events": [{ "type": "tip_completed", "tokenSymbol": "FIAT", "amountRaw": 2000, "sender": "Chidi" }] }',
    ),
    heading('From here'),
    steps(
      'Follow the checkout from your page: [Embed and messages](#embed).',
      'Count what came in: [Tokens and amounts](#tokens), [Verifying events](#events).',
      'Before others use it: [Going live](#going-live).',
    ),
    note('Nothing here moves real money on a local stack: its chain, its bank and its mails are stand-ins.'),
  )
}
