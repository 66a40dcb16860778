import { type LimitName, limitRules, type RateLimits } from '../platform/rate-limits/rate-limits.js'
import { callsChapters, callTexts } from './texts.js'

/** What the OpenAPI document says about a call beyond its schemas. */
export interface CallTexts {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly description: string
}

export const tags = callsChapters.map(({ title, body }) => ({ name: title, description: body }))

/** `key`: method and path, such as `get /auth/me`. */
export function describeCall(key: string, limit: LimitName, limits: RateLimits): CallTexts {
  const text = callTexts.get(key)
  const chapter = callsChapters.find(({ calls }) => calls.has(key))
  if (text === undefined || chapter === undefined) throw new Error(`src/manual/text/calls.md lacks ${key}`)
  return {
    operationId: text.operationId,
    tags: [chapter.title],
    description: [...text.notes.map(withoutAnchors), limitText(limit, limits)].join('\n\n'),
  }
}

/** The manual's links lead to its own headings. */
function withoutAnchors(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, '$1')
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
  pageSessions: 'for each page',
  withdraw: 'for each user',
  resolve: 'for each user',
  resolveAddress: 'for each address',
  airdrops: 'for each creator',
  register: 'for each address',
  login: 'for each address and e-mail',
  otpStart: 'for each e-mail',
  signInAddress: 'for each address',
  failedCodes: 'for each address',
  webhooks: 'for each address',
}

/** A call's rate limit as a sentence, with its value. */
export function limitText(name: LimitName, limits: RateLimits): string {
  const limit = limits.of(name)
  const minutes = limitRules[name].seconds / 60
  const span = minutes === 1 ? 'a minute' : minutes === 60 ? 'an hour' : `in ${minutes} minutes`
  return limit === undefined
    ? '**Rate limit:** switched off here.'
    : `**Rate limit:** ${limit.maxHits.toLocaleString('en')} ${span} ${limitScopes[name]}; the \`X-RateLimit-*\` headers show how many are left.`
}
