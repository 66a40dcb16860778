import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { booksStatementMs } from '../../src/ledger/invariants.js'
import { createDb } from '../../src/platform/database/database.js'
import { openStatuses } from '../../src/withdrawals/lifecycle.js'
import { freePort } from '../dev/ports.js'
import { respondsAt } from '../dev/probe.js'
import { type FiatSandbox, startFiatSandbox } from '../sandbox/fiat-sandbox.js'
import { seededNumber } from '../sandbox/fiatpay/seeded-choice.js'
import { type Creator, createFundedCreator, withdrawUntilFinal } from './client.js'
import { type Comparison, type CreatorAnswer, comparePayouts } from './compare-payouts.js'
import { drawProviderFaults, noFaults, type ProviderFaults } from './provider-faults.js'
import { type Kill, type RespawnedRole, RespawningProcess } from './respawning-process.js'
import { serviceSettings } from './settings.js'

/** The database and Redis of the killed service. */
export interface ServerUrls {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly namespace: string
}

export interface RunPlan {
  readonly seed: number
  /** The number of the first round. Each round has its own provider faults. */
  readonly firstRound: number
  readonly rounds: number
  readonly killsPerRound: number
  readonly report: (progress: string) => void
  /** Called after each round. */
  readonly roundFinished?: (result: RoundResult) => void
}

export interface RoundResult {
  readonly round: number
  readonly providerFaults: ProviderFaults
  readonly kills: readonly Kill[]
  /** How often payouts were sent to the provider and looked up there, in all rounds of this run. */
  readonly sendings: number
  readonly lookups: number
  readonly comparison: Comparison
}

const processRoles: readonly RespawnedRole[] = ['web', 'payouts', 'payouts', 'reconciler', 'reconciler']
const creatorCount = 8
const fundedMicro = 1_000_000_000_000n
/** With this many withdrawals under way no further ones are requested. */
const underWayMax = 40
const startMs = 60_000
/** Time per kill. On a loaded machine a process takes long to start. */
const killMs = 20_000
const endMs = 180_000
const pollMs = 200

/**
 * Kills the web process, the payout workers and the reconcilers at named points while creators withdraw and the provider
 * misbehaves. Then waits until every withdrawal has ended and compares. Stops after the first round with a fault.
 */
export async function killPayouts(servers: ServerUrls, plan: RunPlan): Promise<RoundResult[]> {
  const db = createDb(servers.databaseUrl, 4, booksStatementMs)
  const fiat = await startFiatSandbox()
  const results: RoundResult[] = []
  try {
    const run = new Run(servers, plan, db, fiat, await freePort())
    await run.open()
    for (let n = 0; n < plan.rounds; n++) {
      const result = await run.runRound(plan.firstRound + n)
      results.push(result)
      plan.roundFinished?.(result)
      if (result.comparison.faults.length > 0) break
    }
    return results
  } finally {
    await fiat.close()
    await db.destroy()
  }
}

class Run {
  readonly #creators: Creator[] = []
  readonly #answers: CreatorAnswer[] = []
  #kills: Kill[] = []
  #withdrawing = false
  #failure: unknown
  readonly #servers: ServerUrls
  readonly #plan: RunPlan
  readonly #db: Knex
  readonly #fiat: FiatSandbox
  readonly #port: number

  constructor(servers: ServerUrls, plan: RunPlan, db: Knex, fiat: FiatSandbox, port: number) {
    this.#servers = servers
    this.#plan = plan
    this.#db = db
    this.#fiat = fiat
    this.#port = port
    fiat.fiatpay.webhooks.setUrl(`${this.#url}/webhooks/fiatpay`)
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Registers the creators and gives them money. */
  async open(): Promise<void> {
    const web = new RespawningProcess(this.#processOptions('web', 0, true), 'keep')
    try {
      if (!(await respondsAt(`${this.#url}/health`, startMs, () => true)))
        throw new Error('the web process does not answer')
      for (let n = 0; n < creatorCount; n++)
        this.#creators.push(await createFundedCreator(this.#db, this.#url, fundedMicro))
    } finally {
      await web.end()
    }
  }

  async runRound(round: number): Promise<RoundResult> {
    const { seed, killsPerRound, report } = this.#plan
    const providerFaults = drawProviderFaults(seed, round)
    const { deduplicates, fault } = providerFaults
    this.#kills = []
    this.#withdrawing = true
    this.#fiat.fiatpay.faults.setFault(fault)
    report(
      `round ${round}: the provider ${deduplicates ? 'refuses' : 'PAYS'} used references; faults: ${JSON.stringify(fault)}`,
    )
    const processes = processRoles.map(
      (role, n) =>
        new RespawningProcess(this.#processOptions(role, round * processRoles.length + n, deduplicates)),
    )
    const withdrawing = this.#creators.map((creator, n) =>
      this.#keepWithdrawing(creator, round * creatorCount + n),
    )
    try {
      await this.#until(
        'the kills',
        startMs + killsPerRound * killMs,
        () => this.#kills.length >= killsPerRound,
      )
      const kills = [...this.#kills]
      report(`round ${round}, killed at: ${kills.map(({ role, at }) => `${role} ${at}`).join(', ')}`)
      await this.#endFaults(processes)
      await this.#within('every withdrawal is answered', Promise.all(withdrawing))
      await this.#until('every withdrawal ends', endMs, () => this.#hasEnded())
      return { round, providerFaults, kills, ...this.#providerCalls(), comparison: await this.#compare() }
    } finally {
      this.#withdrawing = false
      await Promise.all(processes.map((process) => process.end()))
    }
  }

  #processOptions(role: RespawnedRole, number: number, deduplicates: boolean) {
    const { seed } = this.#plan
    const env = serviceSettings(this.#servers, this.#fiat, this.#port, deduplicates)
    const onKill = async (kill: Kill): Promise<void> => {
      this.#kills.push(kill)
      if (kill.role === 'web') await this.#releaseKeys()
    }
    const onFailure = (error: unknown): void => {
      this.#failure ??= error
    }
    return { role, number, seed, env, onKill, onFailure }
  }

  /** Ends the leases of idempotency keys now, which would otherwise last a minute after a process was killed. */
  async #releaseKeys(): Promise<void> {
    await this.#db('idempotency_keys')
      .whereNull('response')
      .update({ lease_until: new Date(0) })
  }

  async #keepWithdrawing(creator: Creator, number: number): Promise<void> {
    for (let n = 0; this.#withdrawing; n++) {
      if ((await this.#underWay()) > underWayMax) {
        await sleep(pollMs)
        continue
      }
      const amount = 1 + Math.floor(500 * seededNumber(this.#plan.seed, 'amount', number, n)) / 100
      const answer = await withdrawUntilFinal(this.#url, creator, amount)
      if (answer !== undefined) this.#answers.push({ ...answer, userId: creator.userId })
    }
  }

  async #underWay(): Promise<number> {
    const [row] = await this.#db('withdrawals')
      .whereIn('status', openStatuses)
      .whereNot({ send_state: 'manual_review' })
      .count({ count: '*' })
    return Number(row?.['count'] ?? 0)
  }

  /** Ends the withdrawals, kills and provider faults, and makes everything in `manual_review` due. */
  async #endFaults(processes: readonly RespawningProcess[]): Promise<void> {
    this.#withdrawing = false
    for (const process of processes) process.stopKilling()
    await this.#releaseKeys()
    this.#fiat.fiatpay.faults.setFault(noFaults)
    await this.#db('withdrawals')
      .where({ send_state: 'manual_review' })
      .update({ due_at: new Date(0) })
  }

  /** Makes waiting withdrawals due instead of waiting for their next poll. Returns whether all have ended. */
  async #hasEnded(): Promise<boolean> {
    const soon = `clock_timestamp() + interval '3 seconds'`
    await this.#db('withdrawals')
      .whereRaw(`due_at > ${soon}`)
      .whereNotIn('send_state', ['sending', 'manual_review'])
      .update({ due_at: new Date(0) })
    const unpolled = await this.#db('withdrawals')
      .where({ send_state: 'manual_review' })
      .whereRaw(`due_at < ${soon}`)
      .first('id')
    return unpolled === undefined && (await this.#underWay()) === 0
  }

  #providerCalls(): { sendings: number; lookups: number } {
    const { sendings, lookups } = this.#fiat.fiatpay
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
    return { sendings: sum(sendings.all()), lookups: sum(lookups.all()) }
  }

  #compare(): Promise<Comparison> {
    const funded = new Map(this.#creators.map(({ userId }) => [userId, fundedMicro]))
    return comparePayouts(this.#db, this.#fiat.fiatpay.log().transfers, this.#answers, funded)
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
