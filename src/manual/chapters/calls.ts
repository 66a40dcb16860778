import { type LimitName, limitRules, type RateLimits } from '../../platform/rate-limits/rate-limits.js'
import { type Block, type Chapter, heading, type Section, table, text } from '../blocks.js'
import { callNotes } from '../content/call-notes.js'
import type { Call } from '../read-openapi.js'
import { errorsOf } from './errors.js'
import { bodyFields, parameterFields } from './fields.js'
import { samplesOf } from './samples.js'

/** The settings of this installation that the manual shows. */
export interface Installation {
  readonly base: string
  readonly limits: RateLimits
}

interface Group {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly paths: RegExp
}

/** In the order in which a new reader needs them. A call belongs to the first group whose `paths` match. */
const groups: readonly Group[] = [
  {
    id: 'accounts',
    title: 'Accounts',
    about: 'Register, log in, and read your account. Every account can receive tips as a creator.',
    paths: /^\/auth\//,
  },
  {
    id: 'sdk',
    title: 'SDK',
    about:
      'Tips on your own site: your backend opens a session, your page tips with it, your backend reads the events.',
    paths: /^\/(sdk|pay)\//,
  },
  {
    id: 'crypto-tips',
    title: 'Crypto tips',
    about:
      'The service builds a transaction, the supporter’s wallet signs and submits it, and the service verifies it on the chain.',
    paths: /^\/(payments\/intent|chain\/)/,
  },
  {
    id: 'naira-tips',
    title: 'Naira tips',
    about: 'Paid by card or bank transfer, credited in USDC.',
    paths: /^\/payments\/fiat\//,
  },
  {
    id: 'money',
    title: 'Balance and withdrawals',
    about: 'The creator’s balance, and withdrawals to a Nigerian bank account.',
    paths: /^\/(payouts\/|creators\/(balance|transactions|banks|bank-accounts))/,
  },
  {
    id: 'creators',
    title: 'Creator settings',
    about: 'Profile, API keys and the sites that may embed the checkout. The dashboard uses these calls.',
    paths: /^\/creators\//,
  },
  { id: 'other-calls', title: 'Other calls', about: 'Calls that belong to no other group.', paths: /^/ },
]

/** One chapter for each group of calls. */
export function callsChapters(calls: readonly Call[], installation: Installation): Chapter[] {
  return groups
    .map((group) => {
      const own = calls.filter(({ path }) => groups.find(({ paths }) => paths.test(path)) === group)
      return chapterOf(group, own, installation)
    })
    .filter(({ sections }) => sections.length > 0)
}

function chapterOf({ id, title, about }: Group, calls: readonly Call[], installation: Installation): Chapter {
  const rows = calls.map((call) => [`[${call.method} ${call.path}](#${call.id})`, call.operation.summary])
  return {
    id,
    title,
    blocks: [text(about), table(['Call', 'Purpose'], ...rows)],
    samples: [],
    sections: calls.map((call) => sectionOf(call, installation)),
  }
}

function sectionOf(call: Call, { base, limits }: Installation): Section {
  const { operation, method, path } = call
  const notes = callNotes[call.key] ?? []
  return {
    id: call.id,
    title: operation.summary,
    call: { method, path, badges: badgesOf(call) },
    blocks: [
      ...notes.map(text),
      ...requestBlocks(call),
      {
        kind: 'fields',
        title: 'Answer',
        fields: bodyFields(call, '<', call.answer.schema),
        isRequest: false,
      },
      heading('Refusals'),
      ...errorsOf(call),
      text(limitAndRetryText(call, limits)),
    ],
    samples: samplesOf(call, base),
  }
}

/** The badge of each credential. A call with two badges accepts either. */
const credentialNames: Readonly<Record<string, string>> = {
  session: 'session cookie',
  accessToken: 'access token',
  apiKey: 'API key',
  sdkSession: 'session token',
}

function badgesOf({ operation }: Call): string[] {
  const names = operation.security.flatMap((requirement) => Object.keys(requirement))
  return names.length === 0 ? ['no credential'] : names.map((name) => credentialNames[name] ?? name)
}

function requestBlocks(call: Call): Block[] {
  const parts: [title: string, place: string][] = [
    ['In the path', 'path'],
    ['Query', 'query'],
    ['Headers', 'header'],
  ]
  const parameters = parts.map(([title, place]): Block => {
    const own = (call.operation.parameters ?? []).filter((parameter) => parameter.in === place)
    return { kind: 'fields', title, fields: parameterFields(call, own), isRequest: true }
  })
  const body = call.body === undefined ? [] : bodyFields(call, '>', call.body)
  const all: Block[] = [...parameters, { kind: 'fields', title: 'Body', fields: body, isRequest: true }]
  return all.filter((block) => block.kind === 'fields' && block.fields.length > 0)
}

/** What each rate limit counts by. */
const limitScopes: Readonly<Record<LimitName, string>> = {
  reads: 'for each address',
  status: 'for each intent',
  tipsCreate: 'for each address',
  intents: 'for each address',
  apiKey: 'for each API key',
  sdkAddress: 'for each address',
  sdkIntentReads: 'for each intent',
  withdraw: 'for each user',
  resolve: 'for each user',
  resolveAddress: 'for each address',
  register: 'for each address',
  login: 'for each address and e-mail',
  otpStart: 'for each e-mail',
  signInAddress: 'for each address',
  failedCodes: 'for each address',
  webhooks: 'for each address',
}

function limitAndRetryText({ operation, method, key }: Call, limits: RateLimits): string {
  const name = operation['x-rate-limit'] as LimitName
  const limit = limits.of(name)
  const minutes = limitRules[name].seconds / 60
  const span = minutes === 1 ? 'a minute' : minutes === 60 ? 'an hour' : `in ${minutes} minutes`
  const often =
    limit === undefined
      ? '**Rate limit:** switched off here.'
      : `**Rate limit:** ${limit.maxHits.toLocaleString('en')} ${span} ${limitScopes[name]}; the \`X-RateLimit-*\` headers show how many are left.`
  return `${often} **Repeating:** ${retrySafety(method, key, operation.parameters?.some(({ in: place }) => place === 'header') === true)}`
}

function retrySafety(method: string, key: string, takesKey: boolean): string {
  if (takesKey)
    return 'safe with the same `Idempotency-Key`, for 24 hours: it answers the first answer again, with `Idempotency-Hit: true`.'
  if (key === 'post /chain/tips/create') return 'safe: a signature is recorded once.'
  if (method === 'GET') return 'safe: it changes nothing.'
  if (method === 'POST') return 'not idempotent: each successful request has its own effect.'
  return 'safe: the result is the same.'
}
