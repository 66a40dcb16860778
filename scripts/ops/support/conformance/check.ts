import { setTimeout as pause } from 'node:timers/promises'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { reasonOf } from '../doctor/check.js'
import { recordAs } from './recorder.js'

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
    const text = await recordAs({ provider, check: name }, () => withinLimits(work))
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
