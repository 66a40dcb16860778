import { setTimeout as pause } from 'node:timers/promises'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { readSettings } from '../../../../src/platform/config/read-settings.js'
import { settings } from '../../../../src/platform/config/settings.js'
import { transport } from '../../../../src/platform/http-client.js'
import { reasonOf } from '../doctor/check.js'

export interface Check {
  readonly provider: string
  readonly name: string
  /** `not asked`: something is missing that the question needs. */
  readonly state: 'agrees' | 'differs' | 'not asked'
  readonly text: string
}

/** In the order in which they are asked. Each returns what agrees, and throws what differs or is missing. */
export type Questions = readonly (readonly [name: string, ask: () => Promise<string>])[]

const read = settings
  .pick({
    ...{ SOLANA_RPC_URLS: true, SOLANA_GENESIS_HASH: true, TREASURY_WALLET: true },
    ...{ FIATPAY_URL: true, FIATPAY_SECRET_KEY: true, PAYOUT_SECRET_KEY: true },
    ...{ PRICE_URL: true, RATE_URL: true, SECOND_RATE_URL: true },
    ...{ AGGREGATOR_ULTRA_URL: true, AGGREGATOR_V6_URL: true },
    ...{ AGGREGATOR_API_KEY: true, AGGREGATOR_REFERRAL_ACCOUNT: true },
  })
  .partial()

/** Where the providers are, and the keys for them. Whatever is missing is not asked. */
export type Asked = ReturnType<typeof loadAsked>

/** Throws ConfigError for a setting that is faulty. */
export const loadAsked = (env: NodeJS.ProcessEnv) => readSettings(read, env)

class NotAsked extends Error {
  override name = 'NotAsked'
}

/** Throws what the table shows as not asked: what the question needs and lacks. */
export function missing(text: string): never {
  throw new NotAsked(text)
}

/** Throws what the table shows as a difference. */
export function differs(text: string): never {
  throw new Error(text)
}

/** Asks one question after the other: most need the answers before. `questions`: or why there are none. */
export async function askAll(provider: string, questions: Questions | string): Promise<Check[]> {
  if (typeof questions === 'string') return [{ provider, name: 'all', state: 'not asked', text: questions }]
  const checks: Check[] = []
  for (const [name, question] of questions)
    try {
      newest = undefined
      checks.push({ provider, name, state: 'agrees', text: await withinLimits(question) })
    } catch (error) {
      const state = error instanceof NotAsked ? 'not asked' : 'differs'
      checks.push({ provider, name, state, text: reasonOf(error) })
    }
  return checks
}

/** Free plans allow one request in one or two seconds. */
const limitPauseMs = 2500
const mostLimited = 3

async function withinLimits(question: () => Promise<string>): Promise<string> {
  for (let limited = 0; ; limited++) {
    try {
      return await question()
    } catch (error) {
      const isLimit = error instanceof ProviderError && error.code === 429
      if (!isLimit || limited === mostLimited) throw error
      await pause(limitPauseMs)
    }
  }
}

/** One request and its answer. Bodies are parsed JSON, or undefined. */
interface Exchange {
  readonly sent: unknown
  readonly status: number
  readonly body: unknown
}

/** Of the question that is being asked. */
let newest: Exchange | undefined

/** Runs `work` and keeps the newest answer. The clients themselves stay as they are. */
export async function watchAnswers<Result>(work: () => Promise<Result>): Promise<Result> {
  const { send } = transport
  transport.send = async (url, request) => {
    const answer = await send(url, request)
    newest = { sent: parse(String(request.body ?? '')), status: answer.status, body: parse(answer.text) }
    return answer
  }
  try {
    return await work()
  } finally {
    transport.send = send
  }
}

/** The newest answer to the question that is being asked. */
export function lastExchange(): Exchange {
  if (newest === undefined) throw new Error('nothing was asked yet')
  return newest
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const shortestSecret = 6

/** A text without these values, and of addresses without the parts in which keys stand. */
export function withoutSecrets(text: string, values: readonly (string | undefined)[]): string {
  const parts = values
    .flatMap((value) => value?.split(',') ?? [])
    .flatMap((value) => {
      if (!URL.canParse(value)) return [value]
      const { username, password, pathname, searchParams } = new URL(value)
      const segments = pathname.split('/').filter((part) => part.length >= 16)
      return [value, username, decodeURIComponent(password), password, ...segments, ...searchParams.values()]
    })
  return parts
    .filter((part) => part.length >= shortestSecret)
    .sort((a, b) => b.length - a.length)
    .reduce((cleaned, secret) => cleaned.replaceAll(secret, 'removed'), text)
}
