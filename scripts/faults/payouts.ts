import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { booksStatementMs } from '../../src/ledger/invariants.js'
import { createDb } from '../../src/platform/database/database.js'
import { freePort } from '../dev/ports.js'
import { respondsAt } from '../dev/probe.js'
import { type Fiat, startFiat } from '../sandbox/fiat.js'
import { roll } from '../sandbox/fiatpay/dice.js'
import { type Customer, withdrawSurely } from './client.js'
import { fundedCustomer } from './funded-customer.js'
import { type Kill, Place } from './killed-process.js'
import { calm, type Mixture, mixtureOf } from './mixture.js'
import type { Role } from './points.js'
import { serviceSettings } from './settings.js'
import { type Verdict, verifyPayouts, type Wish } from './verify-payouts.js'

/** Where the kills take place. */
export interface Ground {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly namespace: string
}

export interface Plan {
  readonly seed: number
  /** Chapters from this one on; each has its own mixture of faults. */
  readonly firstChapter: number
  readonly chapters: number
  readonly killsPerChapter: number
  readonly tell: (progress: string) => void
  /** Told after each chapter: what has been reached so far is kept. */
  readonly finished?: (chapter: ChapterResult) => void
}

export interface ChapterResult {
  readonly chapter: number
  readonly mixture: Mixture
  readonly kills: readonly Kill[]
  /** Times a payout was sent to the provider, and times it was asked about, in all chapters of this run. */
  readonly sendings: number
  readonly lookups: number
  readonly verdict: Verdict
}

const crew: readonly Role[] = ['web', 'payouts', 'payouts', 'reconciler', 'reconciler']
const customers = 8
const fundedMicro = 1_000_000_000_000n
/** More than these under way would only wait. */
const underWayMost = 40
const startMs = 60_000
/** On a machine with other work a process may take long to start. */
const killMs = 20_000
const endMs = 180_000
const pollMs = 200

/**
 * Kills the web, the payout workers and the reconcilers at named points while creators withdraw and the provider
 * misbehaves; then lets everything come to its end and compares. Stops at the first chapter with a fault.
 */
export async function killPayouts(ground: Ground, plan: Plan): Promise<ChapterResult[]> {
  const db = createDb(ground.databaseUrl, 4, booksStatementMs)
  const fiat = await startFiat()
  const results: ChapterResult[] = []
  try {
    const run = new Run(ground, plan, db, fiat, await freePort())
    await run.open()
    for (let n = 0; n < plan.chapters; n++) {
      const result = await run.chapter(plan.firstChapter + n)
      results.push(result)
      plan.finished?.(result)
      if (result.verdict.faults.length > 0) break
    }
    return results
  } finally {
    await fiat.close()
    await db.destroy()
  }
}

class Run {
  readonly #customers: Customer[] = []
  readonly #wishes: Wish[] = []
  #kills: Kill[] = []
  #wishing = false
  #failure: unknown
  readonly #ground: Ground
  readonly #plan: Plan
  readonly #db: Knex
  readonly #fiat: Fiat
  readonly #port: number

  constructor(ground: Ground, plan: Plan, db: Knex, fiat: Fiat, port: number) {
    this.#ground = ground
    this.#plan = plan
    this.#db = db
    this.#fiat = fiat
    this.#port = port
    fiat.fiatpay.webhooks.sendTo(`${this.#url}/webhooks/fiatpay`)
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Creators with an account and money. */
  async open(): Promise<void> {
    const place = new Place(this.#place('web', 0, true), 'keep')
    try {
      if (!(await respondsAt(`${this.#url}/health`, startMs, () => true)))
        throw new Error('the web does not answer')
      for (let n = 0; n < customers; n++)
        this.#customers.push(await fundedCustomer(this.#db, this.#url, fundedMicro))
    } finally {
      await place.end()
    }
  }

  async chapter(chapter: number): Promise<ChapterResult> {
    const { seed, killsPerChapter, tell } = this.#plan
    const mixture = mixtureOf(seed, chapter)
    this.#kills = []
    this.#wishing = true
    this.#fiat.fiatpay.behaviour.setFault(mixture.fault)
    tell(
      `chapter ${chapter}, ${mixture.deduplicates ? 'refuses' : 'PAYS'} used references: ${JSON.stringify(mixture.fault)}`,
    )
    const places = crew.map(
      (role, n) => new Place(this.#place(role, chapter * crew.length + n, mixture.deduplicates)),
    )
    const wishers = this.#customers.map((customer, n) => this.#wish(customer, chapter * customers + n))
    try {
      await this.#until(
        'the kills',
        startMs + killsPerChapter * killMs,
        () => this.#kills.length >= killsPerChapter,
      )
      const kills = [...this.#kills]
      tell(`chapter ${chapter}: ${kills.map(({ role, at }) => `${role} ${at}`).join(', ')}`)
      await this.#calmDown(places)
      await this.#within('every wish is answered', Promise.all(wishers))
      await this.#until('every withdrawal ends', endMs, () => this.#isOver())
      return { chapter, mixture, kills, ...this.#asked(), verdict: await this.#verify() }
    } finally {
      this.#wishing = false
      await Promise.all(places.map((place) => place.end()))
    }
  }

  #place(role: Role, number: number, deduplicates: boolean) {
    const { seed } = this.#plan
    const env = serviceSettings(this.#ground, this.#fiat, this.#port, deduplicates)
    const killed = async (kill: Kill): Promise<void> => {
      this.#kills.push(kill)
      if (kill.role === 'web') await this.#releaseKeys()
    }
    const failed = (error: unknown): void => {
      this.#failure ??= error
    }
    return { role, number, seed, env, killed, failed }
  }

  /** As the minute would in which a key stays with a request whose process is dead. */
  async #releaseKeys(): Promise<void> {
    await this.#db('idempotency_keys')
      .whereNull('response')
      .update({ lease_until: new Date(0) })
  }

  async #wish(customer: Customer, number: number): Promise<void> {
    for (let n = 0; this.#wishing; n++) {
      if ((await this.#underWay()) > underWayMost) {
        await sleep(pollMs)
        continue
      }
      const amount = 1 + Math.floor(500 * roll(this.#plan.seed, 'amount', number, n)) / 100
      const answered = await withdrawSurely(this.#url, customer, amount)
      if (answered !== undefined) this.#wishes.push({ ...answered, userId: customer.userId })
    }
  }

  async #underWay(): Promise<number> {
    const [row] = await this.#db('withdrawals')
      .whereIn('status', ['pending', 'submitted', 'processing'])
      .whereNot({ send_state: 'manual_review' })
      .count({ count: '*' })
    return Number(row?.['count'] ?? 0)
  }

  /** The provider behaves again, nobody is killed any more, and what waits for a person is looked at once more. */
  async #calmDown(places: readonly Place[]): Promise<void> {
    this.#wishing = false
    for (const place of places) place.spare()
    await this.#releaseKeys()
    this.#fiat.fiatpay.behaviour.setFault(calm)
    await this.#db('withdrawals')
      .where({ send_state: 'manual_review' })
      .update({ due_at: new Date(0) })
  }

  /** Lets the minutes pass that are between looks, and says whether nothing waits any more. */
  async #isOver(): Promise<boolean> {
    const soon = `clock_timestamp() + interval '3 seconds'`
    await this.#db('withdrawals')
      .whereRaw(`due_at > ${soon}`)
      .whereNotIn('send_state', ['sending', 'manual_review'])
      .update({ due_at: new Date(0) })
    const unasked = await this.#db('withdrawals')
      .where({ send_state: 'manual_review' })
      .whereRaw(`due_at < ${soon}`)
      .first('id')
    return unasked === undefined && (await this.#underWay()) === 0
  }

  #asked(): { sendings: number; lookups: number } {
    const { sendings, lookups } = this.#fiat.fiatpay
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
    return { sendings: sum(sendings.all()), lookups: sum(lookups.all()) }
  }

  #verify(): Promise<Verdict> {
    const funded = new Map(this.#customers.map(({ userId }) => [userId, fundedMicro]))
    return verifyPayouts(this.#db, this.#fiat.fiatpay.log().transfers, this.#wishes, funded)
  }

  async #within(what: string, work: Promise<unknown>): Promise<void> {
    let over = false
    void work.then(() => {
      over = true
    })
    await this.#until(what, endMs, () => over)
    await work
  }

  async #until(what: string, ms: number, holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + ms
    while (!(await holds())) {
      if (this.#failure !== undefined) throw this.#failure
      if (Date.now() > deadline) throw new Error(`seed ${this.#plan.seed}: "${what}" took more than ${ms} ms`)
      await sleep(pollMs)
    }
  }
}
