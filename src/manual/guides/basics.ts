import { type Chapter, code, guide, heading, list, table, text } from '../blocks.js'

export function basics(base: string): Chapter {
  return {
    ...guide(
      'basics',
      'Basics',
      text(
        `All paths are under \`${base}\`. Bodies are JSON, except the live stream. A success is always status 200 with \`success: true\`; everything else is [a refusal](#errors).`,
      ),
      heading('Credentials'),
      table(
        ['Badge', 'How it is sent', 'Where it comes from', 'What it opens'],
        [
          'session cookie',
          'by the browser',
          'register, login, one-time code',
          '`/auth`, `/creators`, `/payouts`',
        ],
        [
          'access token',
          '`Authorization: Bearer <ACCESS_TOKEN>`',
          'the same three',
          '`GET /auth/me`, `POST /auth/logout`',
        ],
        [
          'API key',
          '`Authorization: Bearer <API_KEY>`',
          '[POST /creators/api-keys](#post-creators-api-keys)',
          '`/sdk/init`, `/sdk/events`, only for its owner',
        ],
        [
          'session token',
          '`Authorization: Bearer <SESSION_TOKEN>`',
          '[POST /sdk/init](#post-sdk-init)',
          'the other `/sdk` calls',
        ],
      ),
      text(
        'Keep an API key on a server only. A page gets only a session token, which is valid for 15 minutes and ends with its tip.',
      ),
      heading('From a browser'),
      list(
        '`/sdk`, `/payments` and `/chain` answer every site (CORS `*`, without cookies).',
        '`/auth`, `/creators` and `/payouts` answer only their own site.',
      ),
      heading('Repeating a request'),
      text(
        'Reads are safe to repeat. Calls that say so take an `Idempotency-Key`: make one for each action and repeat the request with the same one, so that a lost answer does no harm. A stored answer has the header `Idempotency-Hit: true`.',
      ),
      heading('Limits'),
      text(
        'Each call names its rate limit. Every answer says how many requests are left: `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset` (epoch seconds), and `Retry-After` with a 429. A 503 `Service unavailable` has `Retry-After` too.',
      ),
      heading('Compatibility'),
      text(
        'Changes are additive: new fields and calls may appear, and documented ones are not removed and keep their meaning. Ignore fields you do not know. Absent and `null` mean the same in a request.',
      ),
      text(
        'Times are ISO 8601 in UTC. Ids are opaque texts. The description for programs is [OpenAPI 3.1](/openapi.json); this manual is also available [as Markdown](/docs.md).',
      ),
    ),
    samples: [
      code(
        'sh',
        'Client: ES modules, CommonJS and types, no dependencies; in no registry',
        '# in the service’s repository',
        'npm run build && npm pack ./dist/client',
        '# in your project',
        'npm install ../tipping-service/tipping-client-*.tgz',
      ),
      code(
        'ts',
        'TypeScript, browser and Node',
        "import { createBackendClient, createTipClient, streamTips } from 'tipping-client'",
        '',
        '// Your server: holds the key.',
        `const backend = createBackendClient({ baseUrl: '${base}', apiKey })`,
        '',
        '// Your page: holds a session token, never the API key.',
        `const page = createTipClient({ baseUrl: '${base}', sessionToken })`,
      ),
    ],
  }
}
