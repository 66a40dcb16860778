import type { Knex } from 'knex'
import type { Composed } from '../../src/compose.js'
import { sendingRefundKind } from '../../src/fiat/refunds/refund-kind.js'
import { createSettlementBatch } from '../../src/fiat/settle-due-intents.js'
import { ProviderError } from '../../src/kernel/provider-error.js'
import { createFollowBatch } from '../../src/outgoing/follow.js'
import { createSendBatch } from '../../src/outgoing/send.js'
import type { Config } from '../../src/platform/config/config.js'
import { query } from '../../src/platform/database/database.js'
import type { Metrics } from '../../src/platform/monitoring/metrics.js'
import type { WokenKind } from '../../src/platform/queue/wake-ups.js'
import { type Batch, inTurn } from '../../src/platform/worker/batch-loop.js'
import type { ExchangeRateFeed } from '../../src/ports/exchange-rates.js'
import { receiveWebhook } from '../../src/withdrawals/reconcile/receive-webhook.js'
import { payoutKind } from '../../src/withdrawals/send/payout-kind.js'
import { withdrawalKind } from '../../src/withdrawals/withdrawal-kind.js'
import { codeIn } from '../kit/client.js'
import { mailText, type QueuedEmail } from '../kit/mail-text.js'
import type { Chance } from './chance.js'
import type { Clock } from './clocks.js'
import { composeWeb, type Web } from './compose.js'
import type { Provider } from './provider.js'
import { Process, type Turns } from './turns.js'

/** A worker that found nothing looks again within this time. */
const pollMs = 2000
/** So long after a look that found nothing to do about what is due, such as what waits for a limit. */
const futilePollMs = 60_000
const afterErrorMs = 500
const restartMs = { least: 1000, most: 90_000 }
/** Redis is there or away for so long. */
const redisMs = 1_800_000
const nairaPerDollar = 1600n

const workerKinds = ['payouts', 'reconciler', 'settlement'] as const
type WorkerKind = (typeof workerKinds)[number]

interface Worker {
  readonly kind: WorkerKind
  process: Process
  batch: Batch
  isRunning: boolean
  wokenAgain: boolean
}

export interface Outside {
  readonly clock: Clock
  readonly chance: Chance
  readonly turns: Turns
  readonly provider: Provider
  readonly config: Config
  readonly metrics: Metrics
  /** Of the run itself. */
  readonly db: Knex
}

/** The service: web processes and workers, two of each, that die and start again. Above the ports all code is the product's. */
export class World {
  /** What the log says about money. */
  tell: (text: string) => void = () => undefined
  readonly #outside: Outside
  readonly #webs: { process: Process; web: Web }[] = []
  readonly #workers: Worker[] = []
  readonly #restarts = new Map<Process, () => void>()
  readonly #lookedAt = new Map<WorkerKind, number>()
  #started = 0

  constructor(outside: Outside) {
    this.#outside = outside
    const { turns, provider } = outside
    turns.onKill = (process) => this.#restarts.get(process)?.()
    turns.onIdle = (until) => this.#pollWhatIsDue(until)
    provider.onNews = (reference) =>
      void this.request('the webhook', ({ services }) =>
        receiveWebhook(services, new TextEncoder().encode(reference), () => ''),
      ).catch(() => undefined)
    for (const nth of [1, 2]) this.#startWeb(`web ${nth}`, this.#webs.length)
    for (const kind of workerKinds) for (const nth of [1, 2]) this.#startWorker(kind, `${kind} ${nth}`)
  }

  /** Has a web process do this. Rejects when it dies before it has answered. */
  request<Answer>(kind: string, ask: (web: Web) => Promise<Answer>): Promise<Answer> {
    const chosen = this.#outside.chance.oneOf(`web of ${kind}`, this.#webs)
    if (chosen === undefined) throw new Error('there is no web process')
    const { process, web } = chosen
    return process.do(() => ask(web))
  }

  /** An operator's command: a process that ends with it. */
  async command<Answer>(run: (web: Web) => Promise<Answer>): Promise<Answer> {
    const process = new Process(`command ${++this.#started}`, this.#outside.turns)
    const web = this.#compose(process)
    try {
      return await process.do(() => run(web))
    } finally {
      process.isAlive = false
    }
  }

  async refundIds(): Promise<string[]> {
    const rows = await this.#read<{ id: string }>(
      'refunds',
      'select id from refunds order by created_at, id',
      [],
    )
    return rows.map(({ id }) => id)
  }

  /** Those that a worker has not ended by itself. */
  async openRefunds(): Promise<string[]> {
    const text = `select id from refunds where status not in ('completed', 'failed') and last_error is not null order by id`
    return (await this.#read<{ id: string }>('open-refunds', text, [])).map(({ id }) => id)
  }

  async creatorOf(reference: string): Promise<string> {
    const text = 'select user_id as id from withdrawals where reference = $1'
    const [row] = await this.#read<{ id: string }>('creator', text, [reference])
    return row?.id ?? ''
  }

  async creatorOfTip(intentId: string): Promise<string> {
    const text = 'select user_id as id from fiat_intents where id = $1'
    const [row] = await this.#read<{ id: string }>('creator-of-tip', text, [intentId])
    return row?.id ?? ''
  }

  /** The newest code that was mailed for a withdrawal. */
  async codeFor(reference: string): Promise<string> {
    const text = `select subject, body from emails where kind = 'withdrawal-code' and body::text like '%' || $1 || '%'
      order by created_at desc limit 1`
    const [row] = await this.#read<QueuedEmail>('code', text, [reference])
    return codeIn(mailText(row)) ?? '000000'
  }

  #read<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    const { turns, db } = this.#outside
    return turns.beside(() => query<Row>(db, { name: `simulate.${name}`, text, values }))
  }

  #startWeb(name: string, place: number): void {
    const process = new Process(name, this.#outside.turns)
    this.#webs[place] = { process, web: this.#compose(process) }
    this.#restartsBy(process, () => this.#startWeb(name, place))
  }

  #startWorker(kind: WorkerKind, name: string, before?: Worker): void {
    const process = new Process(name, this.#outside.turns)
    const batch = this.#batchOf(kind, this.#compose(process).services)
    const worker = Object.assign(before ?? { kind }, {
      process,
      batch,
      isRunning: false,
      wokenAgain: false,
    }) as Worker
    if (before === undefined) this.#workers.push(worker)
    this.#restartsBy(process, () => this.#startWorker(kind, name, worker))
    this.#wake(worker)
  }

  #restartsBy(process: Process, start: () => void): void {
    const { turns, chance } = this.#outside
    this.#restarts.set(process, () => {
      this.#restarts.delete(process)
      turns.after(chance.between('restart ms', restartMs.least, restartMs.most), start)
    })
  }

  #batchOf(kind: WorkerKind, services: Composed): Batch {
    if (kind === 'reconciler') return createFollowBatch(services, withdrawalKind(services))
    if (kind === 'settlement') return createSettlementBatch(services)
    const { sender, returns } = this.#outside.provider
    const refunds = sendingRefundKind(services, returns)
    return inTurn([
      createSendBatch(services, payoutKind({ ...services, sender })),
      createSendBatch(services, refunds),
      createFollowBatch(services, refunds),
    ])
  }

  #wake(worker: Worker): void {
    if (worker.isRunning || !worker.process.isAlive) {
      worker.wokenAgain = true
      return
    }
    worker.isRunning = true
    worker.wokenAgain = false
    const { process, kind, batch } = worker
    const { turns, clock } = this.#outside
    const rest = (ms: number): void => {
      if (!process.isAlive) return
      worker.isRunning = false
      if (ms === 0 || worker.wokenAgain) this.#wake(worker)
      else if (Number.isFinite(ms)) turns.after(ms, () => worker.process === process && this.#wake(worker))
    }
    process.do(batch).then(
      ({ taken }) => {
        if (taken === 0) this.#lookedAt.set(kind, clock.now)
        rest(taken === 0 ? Number.POSITIVE_INFINITY : 0)
      },
      () => rest(afterErrorMs),
    )
  }

  /**
   * The polls of the workers. One that would find nothing changes nothing, so only those at whose time something is due are made.
   */
  async #pollWhatIsDue(until: number): Promise<void> {
    const { turns, clock, chance, db, provider } = this.#outside
    const paid = [...provider.charges.values()].filter(({ payments }) => payments.length > 0)
    const rows = await query<{ kind: WorkerKind; at: Date | null }>(db, {
      name: 'simulate.due',
      text: /* sql */ `
        select 'payouts' as kind, least(
          (select min(due_at) from withdrawals where send_state in ('not_sent', 'resend')),
          (select min(due_at) from refunds)) as at
        union all select 'reconciler', min(due_at) from withdrawals where send_state not in ('not_sent', 'resend')
        union all select 'settlement', min(due_at) from fiat_intents f join unnest($1::text[], $2::int[]) as paid(reference, times)
          on f.provider_reference = paid.reference where times > (select count(*) from fiat_payments where intent_id = f.id)`,
      values: [paid.map(({ reference }) => reference), paid.map(({ payments }) => payments.length)],
    })
    for (const { kind, at } of rows) {
      if (at === null) continue
      const looked = this.#lookedAt.get(kind) ?? 0
      const dueMs =
        looked >= at.getTime() ? looked + futilePollMs : at.getTime() + chance.whole('poll', 0, pollMs)
      if (dueMs > until) continue
      const idle = this.#workers.filter(
        (worker) => worker.kind === kind && !worker.isRunning && worker.process.isAlive,
      )
      const worker = chance.oneOf('poller', idle)
      if (worker !== undefined) turns.after(dueMs - clock.now, () => this.#wake(worker))
    }
  }

  #isRedisUp(): boolean {
    const { clock, chance } = this.#outside
    return chance.at('redis', Math.floor(clock.now / redisMs)) < 0.5
  }

  #compose(process: Process): Web {
    const { db, clock, turns, chance, config, metrics, provider } = this.#outside
    const wake = (kind: WokenKind): void => {
      if (!process.isAlive || !this.#isRedisUp()) return
      for (const worker of this.#workers) if (worker.kind === kind) turns.after(0, () => this.#wake(worker))
    }
    const exchangeRates: ExchangeRateFeed = {
      read: () =>
        turns.call('the rate', () => {
          if (chance.strikes('the rate feed is away', 0.03))
            throw new ProviderError('unavailable', 'the feed is away')
          return { value: this.rate(), asOf: new Date(clock.now) }
        }),
    }
    const { payouts, collections } = provider
    const say = (text: string): void => this.tell(`${process.name}: ${text}`)
    return composeWeb({ config, metrics, db, payouts, collections, exchangeRates, wake, say })
  }

  /** Naira per dollar in units of 10^-8: it moves by up to two percent, another way each hour. */
  rate(): bigint {
    const { clock, chance } = this.#outside
    const tenths = BigInt(Math.floor(chance.at('rate', Math.floor(clock.now / 3_600_000)) * 320)) - 160n
    return nairaPerDollar * 100_000_000n + tenths * 20_000_000n
  }
}
