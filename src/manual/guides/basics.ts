import { type Chapter, code, guide, heading, list, table, text } from '../blocks.js'

export function basics(base: string): Chapter {
  return {
    ...guide(
      'basics',
      'Basics',
      text(
        `Everything lies under \`${base}\`. Bodies are JSON, but for the live stream. A success is always status 200 with \`success: true\`; everything else is [a refusal](#errors).`,
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
          '`/sdk/init`, `/sdk/events`, for its owner alone',
        ],
        [
          'session token',
          '`Authorization: Bearer <SESSION_TOKEN>`',
          '[POST /sdk/init](#post-sdk-init)',
          'the other `/sdk` calls',
        ],
      ),
      text(
        'An API key belongs on a server and nowhere else. A page only ever gets a session token, which lives 15 minutes and ends with its tip.',
      ),
      heading('From a browser'),
      list(
        '`/sdk`, `/payments` and `/chain` answer any site (CORS `*`, without cookies).',
        '`/auth`, `/creators` and `/payouts` answer their own site alone.',
      ),
      heading('Repeating a request'),
      text(
        'Reads are safe. Calls that make something take an `Idempotency-Key`, where they say so: make one for each intention, keep it for its repetitions, and a network that breaks costs nothing. The stored answer comes with `Idempotency-Hit: true`.',
      ),
      heading('Limits'),
      text(
        'Each call names its rate limit. The answer says where you stand: `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset` (epoch seconds), and `Retry-After` with a 429.',
      ),
      heading('What stays'),
      text(
        'Changes are additive: fields and calls may come, none that is documented here goes or changes its meaning. Ignore fields you do not know. Absent and `null` mean the same in a request.',
      ),
      text(
        'Times are ISO 8601 in UTC. Ids are opaque texts. The whole description for programs is [OpenAPI 3.1](/openapi.json); this text is also there [as Markdown](/docs.md).',
      ),
    ),
    beside: [
      code(
        'sh',
        'Client: part of the service’s repository, in no registry',
        'npm install ../tipping-service  # cloned there and built: npm run build',
      ),
      code(
        'ts',
        'TypeScript, browser and Node',
        "import { createBackendClient, createTipClient, streamTips } from 'tipping-service/client'",
        '',
        '// Your server: holds the key.',
        `const backend = createBackendClient({ baseUrl: '${base}', apiKey })`,
        '',
        '// Your page: holds a session token, never the key.',
        `const page = createTipClient({ baseUrl: '${base}', sessionToken })`,
      ),
    ],
  }
}
