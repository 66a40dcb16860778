import { setTimeout as sleep } from 'node:timers/promises'
import { isFinal } from '../../../src/kernel/state-machine.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { type OutgoingStatus, openStatuses, pollNowStates } from '../../../src/outgoing/lifecycle.js'
import { query } from '../../../src/platform/database/database.js'
import { statusMachine } from '../../../src/withdrawals/lifecycle.js'
import { reconcileNow } from '../../../src/withdrawals/work-queue.js'
import type { Draw } from '../../kit/draw.js'
import type { ActResult, Truth } from './context.js'
import { Money } from './money.js'
import type { Stage } from './stage.js'

/** A broken promise. `about`: the withdrawal, when it is about one. */
export interface Broken {
  readonly text: string
  readonly about?: string
}

interface Row {
  readonly reference: string
  readonly providerReference: string
  readonly status: OutgoingStatus
  readonly recredited: boolean
  readonly resolutions: number
  readonly reviews: readonly { readonly kind: string; readonly until: number | null }[]
  /** Milliseconds since 1970, by the database. */
  readonly now: number
}

/** What a withdrawal was when it was last looked at. */
interface Looked {
  readonly paidTwice: boolean
  readonly at: number
  /** The look before the money was away twice: a review that was closed before it names something else. */
  readonly since: number
}

/** The service hears of a change at the provider after at most so many steps. */
const maxUnseenSteps = 5
const seenAtOnce = 0.3
const maxRounds = 50
const pauseMs = 5

/**
 * Checks the promises about money after a step: of the withdrawals, sources of money and ledger transfers that the step
 * touched, or of all.
 */
export class Promises {
  readonly #stage: Stage
  readonly #draw: Draw
  readonly #money: Money
  readonly #statuses = new Map<number, string>()
  /** The provider's references that changed since the service was told, and the steps since then. */
  readonly #unseen = new Map<string, number>()
  readonly #looked = new Map<string, Looked>()
  #newest = 0n

  constructor(stage: Stage, draw: Draw, truth: Truth) {
    this.#stage = stage
    this.#draw = draw
    this.#money = new Money(stage, truth)
  }

  /** `whole`: tells the service of every change, and checks all withdrawals, all sources and all books. */
  async check({ about, broken }: ActResult, whole = false): Promise<Broken | undefined> {
    if (broken !== undefined) return { text: broken, ...(about === undefined ? {} : { about }) }
    const changed = this.#changedTransfers()
    const followed = await this.#follow(whole)
    const { faults, references, posted } = await this.#money.check(this.#newest, whole)
    const touched = [...changed, ...followed, ...[...references, about ?? ''].map((one) => one.toLowerCase())]
    const [withdrawal] = await this.#withdrawals(whole ? undefined : touched)
    if (withdrawal !== undefined) return withdrawal
    const [fault] = [...faults, ...(whole || posted ? await this.#books(whole) : [])]
    return fault === undefined ? undefined : { text: fault }
  }

  #changedTransfers(): string[] {
    const transfers = this.#stage.sandbox.fiatpay.transfers.all()
    const changed = transfers.filter(({ id, status }) => this.#statuses.get(id) !== status)
    for (const { id, status, reference } of changed) {
      this.#statuses.set(id, status)
      if (!this.#unseen.has(reference)) this.#unseen.set(reference, 0)
    }
    return changed.map(({ reference }) => reference)
  }

  /** Does what a webhook of the provider does, at once or some steps later. Returns the references. */
  async #follow(whole: boolean): Promise<string[]> {
    if (this.#unseen.size === 0) return []
    let oldest = 0
    for (const [reference, steps] of this.#unseen) {
      this.#unseen.set(reference, steps + 1)
      oldest = Math.max(oldest, steps + 1)
    }
    if (!whole && oldest < maxUnseenSteps && !this.#draw.happens(seenAtOnce)) return []
    const { services, batches } = this.#stage
    const references = [...this.#unseen.keys()]
    for (const reference of references) await reconcileNow(services, reference)
    // The batch skips a row that a webhook has locked. It is due again then. What is never taken is found by the check.
    for (let round = 0, due = true; due && round < maxRounds; round++) {
      if (round > 0) await sleep(pauseMs)
      await batches.reconciler()
      const rows = await services
        .db('withdrawals')
        .whereIn('provider_reference', references)
        .whereIn('send_state', pollNowStates)
        .whereNotIn('status', openStatuses)
        .whereRaw('due_at <= clock_timestamp()')
        .limit(1)
      due = rows.length > 0
    }
    this.#unseen.clear()
    return references
  }

  async #withdrawals(references: readonly string[] | undefined): Promise<Broken[]> {
    if (references?.length === 0) return []
    const rows = await query<Row>(this.#stage.services.db, {
      name: 'acts.rows',
      text: /* sql */ `
        select w.reference, w.provider_reference as "providerReference", w.status,
          w.recredited_at is not null as recredited,
          coalesce((select json_agg(json_build_object('kind', r.kind,
              'until', (extract(epoch from r.resolved_at) * 1000)::float8))
            from review_items r where r.withdrawal_id = w.id), '[]') as reviews,
          (select count(*) from ledger_transfers o join ledger_transfers t on t.resolves = o.id
            where o.idem = 'withdrawal:' || w.reference)::int4 as resolutions,
          (extract(epoch from clock_timestamp()) * 1000)::float8 as now
        from withdrawals w where $1::text[] is null or w.provider_reference = any($1::text[])`,
      values: [references ?? null],
    })
    return rows.flatMap((row) => {
      const text = this.#faultOf(row)
      return text === undefined ? [] : [{ text: `${row.reference} ${text}`, about: row.reference }]
    })
  }

  #faultOf(row: Row): string | undefined {
    const { status, providerReference, resolutions } = row
    const executed = this.#stage.sandbox.fiatpay.transfers.listByReference(providerReference)
    const ended = isFinal(statusMachine, status)
    if (resolutions !== (ended ? 1 : 0)) return `is ${status} and its hold was resolved ${resolutions} times`
    // The provider is asked about one transfer per reference, so nothing would ever name a second one.
    if (executed.length > 1) return `was executed ${executed.length} times`
    const [transfer] = executed
    const isAway = transfer?.status === 'pending' || transfer?.status === 'success'
    return this.#faultOfPaidTwice(row, isAway)
  }

  /** The money is away, and the creator has it back: a review must name exactly that. */
  #faultOfPaidTwice(row: Row, isAway: boolean): string | undefined {
    const { providerReference, status, recredited, reviews, now } = row
    if (this.#unseen.has(providerReference)) return undefined
    const before = this.#looked.get(providerReference)
    const paidTwice = isAway && (status === 'failed' || recredited)
    const since = before?.paidTwice === true ? before.since : (before?.at ?? 0)
    this.#looked.set(providerReference, { paidTwice, at: now, since })
    const kinds = recredited ? ['paid_after_recredit'] : ['paid_after_failed', 'mismatch']
    const isNamed = reviews.some(
      ({ kind, until }) => kinds.includes(kind) && (until === null || until >= since),
    )
    if (!paidTwice || isNamed) return undefined
    return `was paid by the provider and given back to the creator (${status}${recredited ? ', credited again' : ''}), and no review names it`
  }

  async #books(whole: boolean): Promise<string[]> {
    const { invariants, newest } = await checkBooks(this.#stage.services.db, whole ? 0n : this.#newest)
    this.#newest = newest
    return invariants
      .filter(({ violations }) => violations > 0n)
      .map(({ name }) => `the books do not hold: ${name}`)
  }
}
