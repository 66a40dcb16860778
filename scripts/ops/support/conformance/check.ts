import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { reasonOf } from '../doctor/check.js'

/** `not asked`: something is missing that the question needs. */
type State = 'agrees' | 'differs' | 'not asked'

export interface Check {
  readonly provider: string
  readonly name: string
  readonly state: State
  readonly text: string
}

/** What the question needs is missing. The message says what to do about it. */
export class NotAsked extends Error {
  override name = 'NotAsked'
}

/** Throws what the table shows as a difference. */
export function differs(text: string): never {
  throw new Error(text)
}

/** Free plans allow one request in one or two seconds. */
const limitPauseMs = 2500
const mostLimited = 3

/** Asks one question. `work` returns what agrees, and throws what differs. */
export async function ask(provider: string, name: string, work: () => Promise<string>): Promise<Check> {
  try {
    const text = await current.run({ newest: undefined }, () => withinLimits(work))
    return { provider, name, state: 'agrees', text }
  } catch (error) {
    const state = error instanceof NotAsked ? 'not asked' : 'differs'
    return { provider, name, state, text: reasonOf(error) }
  }
}

/** Questions that nobody can answer here, for one reason. */
export function notAsked(provider: string, names: readonly string[], text: string): Check[] {
  return names.map((name) => ({ provider, name, state: 'not asked', text }))
}

async function withinLimits(work: () => Promise<string>): Promise<string> {
  for (let limited = 0; ; limited++) {
    try {
      return await work()
    } catch (error) {
      const isLimit = error instanceof ProviderError && error.code === 429
      if (!isLimit || limited === mostLimited) throw error
      await pause(limitPauseMs)
    }
  }
}

/** One request and its answer. */
interface Exchange {
  /** Parsed JSON; undefined without a body. */
  readonly sent: unknown
  readonly status: number
  /** Parsed JSON, or undefined. */
  readonly body: unknown
}

/** Of the question that is being asked. */
const current = new AsyncLocalStorage<{ newest: Exchange | undefined }>()

/** Runs `work` and keeps the newest answer that each question gets. The clients themselves stay as they are. */
export async function watchAnswers<Result>(work: () => Promise<Result>): Promise<Result> {
  const send = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const answer = await send(input, init)
    const asked = current.getStore()
    // The client reports a body that breaks off.
    const body = async () =>
      parse(
        await answer
          .clone()
          .text()
          .catch(() => ''),
      )
    const sent = typeof init?.body === 'string' ? parse(init.body) : undefined
    if (asked !== undefined) asked.newest = { sent, status: answer.status, body: await body() }
    return answer
  }
  try {
    return await work()
  } finally {
    globalThis.fetch = send
  }
}

/** The newest answer to the question that is being asked. */
export function lastExchange(): Exchange {
  const exchange = current.getStore()?.newest
  if (exchange === undefined) throw new Error('nothing was asked yet')
  return exchange
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A text without the values of secret settings, also where they are a part of an address. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, 'removed'), text)
}

const shortestSecret = 6

/** What must not be shown: the values themselves, and of addresses the parts in which keys stand. */
export function secretParts(values: readonly (string | undefined)[]): string[] {
  const parts = values
    .flatMap((value) => value?.split(',') ?? [])
    .flatMap((value) => {
      if (!URL.canParse(value)) return [value]
      const { username, password, pathname, searchParams } = new URL(value)
      const segments = pathname.split('/').filter((part) => part.length >= 16)
      return [value, username, decodeURIComponent(password), password, ...segments, ...searchParams.values()]
    })
  return parts.filter((part) => part.length >= shortestSecret).sort((a, b) => b.length - a.length)
}
