import { mailText, type QueuedEmail } from '../../../scripts/kit/mail-text.js'
import { composeWeb, type Web } from '../../../scripts/simulate/compose.js'
import type { Stage } from '../../../scripts/simulate/stage.js'
import { Process } from '../../../scripts/simulate/turns.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { sqlList } from '../../../src/kernel/state-machine.js'
import { selfClosingKinds } from '../../../src/outgoing/decide.js'
import { createFollowBatch } from '../../../src/outgoing/follow.js'
import { looksUp } from '../../../src/outgoing/guards.js'
import { heldStates } from '../../../src/outgoing/lifecycle.js'
import { createSendBatch } from '../../../src/outgoing/send.js'
import { query } from '../../../src/platform/database/database.js'
import { createMetrics } from '../../../src/platform/monitoring/metrics.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import type { PayoutSender } from '../../../src/ports/payout-sender.js'
import type { Payouts, ProviderTransfer } from '../../../src/ports/payouts.js'
import { payoutKind } from '../../../src/withdrawals/send/payout-kind.js'
import { withdrawalKind } from '../../../src/withdrawals/withdrawal-kind.js'
import { type Outcome, type Row, type State, shownBy } from '../outgoing/state.js'

/** The unit of the model: what is withdrawn, what of it is sent, and the other amount that a provider may have taken. */
export const unit = { micro: 20_000_000n, dollars: 20, netKobo: 3_168_000n, otherKobo: 2_851_200n }
const usualRate = 1600n
/** By this rate the withdrawal is below WITHDRAW_MIN_NGN. */
const lowRate = 1590n
export const traceSettings = { WITHDRAW_MIN_NGN: '31600', PAYOUT_LIMITS_NGN: 'creator-day:1000000000' }
const settleMs = 901_000
const bank = { code: '058', name: 'Guaranty Trust Bank' }
const metrics = createMetrics()
const far = Number.POSITIVE_INFINITY

/** Where a process stands still while others act, by the turn that it waits for. */
export const stops = {
  taken: /^(a recipient$|a name$|begin\b)/,
  recorded: /\bcommit;?: the answer$/i,
  answered: /^send: the answer$/,
  asked: /^find: the answer$/,
  transaction: /^begin\b/,
}

interface Actor {
  readonly process: Process
  readonly web: Web
  readonly batch: Batch
}

/** What is in the database, in the words of the model. The fence and the last request are as they are stored. */
export interface Stored {
  readonly row: (Omit<Row, 'request'> & { readonly sentAt: string | null }) | null
  readonly available: number
  readonly held: number
  readonly paid: number
}

/**
 * One withdrawal of the real product: the code above the ports, with a real PostgreSQL. Its processes stand still unless one of them acts.
 * The provider has what the model says that it has.
 */
export class Product {
  /** The state in which the model is. */
  state: State
  userId = ''
  reference = ''
  isRateLow = false
  /** What becomes of the request that is sent now. Without one none may be. */
  outcome: Outcome | undefined
  refusesPayee = false
  /** What should not have happened, and what was refused. */
  readonly notes: string[] = []
  readonly #stage: Stage
  readonly #deduplicates: boolean
  readonly #actors = new Map<string, Actor>()

  constructor(stage: Stage, start: State, deduplicates: boolean) {
    this.#stage = stage
    this.state = start
    this.#deduplicates = deduplicates
    stage.turns.answersLater = (text) => /\bcommit;?$/i.test(text)
  }

  /** Has a process do this. It acts until it waits for one of these turns, or has ended. */
  async begin(name: string, work: (actor: Actor) => Promise<unknown>, stop?: RegExp): Promise<void> {
    const actor = this.#actorOf(name)
    actor.process.do(() => work(actor)).catch((error: unknown) => this.note(`${name}: ${error}`))
    await this.goOn(name, stop)
  }

  /** A process goes on until it waits for such a turn outside of a transaction, or has ended. */
  async goOn(name: string, stop?: RegExp): Promise<void> {
    const { process } = this.#actorOf(name)
    const { turns } = this.#stage
    const isStopped = (): boolean =>
      stop !== undefined &&
      process.inTransaction.size === 0 &&
      turns.waitingOf(process).some((text) => stop.test(text))
    process.frozenUntil = 0
    await turns.take(() => process.callers.size === 0 || isStopped())
    process.frozenUntil = far
    if (process.callers.size > 0 && !isStopped()) this.note(`${name} neither ends nor stops`)
  }

  /** The turn that a process waits for. Undefined: it has nothing to do. */
  waitingOf(name: string): string | undefined {
    const actor = this.#actors.get(name)
    return actor && this.#stage.turns.waitingOf(actor.process)[0]
  }

  async kill(name: string): Promise<void> {
    const actor = this.#actors.get(name)
    this.#actors.delete(name)
    if (actor !== undefined) await this.#stage.turns.kill(actor.process)
  }

  /** A new creator, who has not asked for anything. */
  begins(userId: string): void {
    Object.assign(this, { userId, reference: '' })
    this.notes.length = 0
  }

  async ids(): Promise<string[]> {
    const text = 'select id from withdrawals where reference = $1'
    const rows = await query<{ id: string }>(this.#stage.db, {
      name: 'traces.ids',
      text,
      values: [this.reference],
    })
    return rows.map(({ id }) => id)
  }

  /** What is under way when a trace ends comes to nothing, and the workers of the next one do not meet its row. */
  async end(): Promise<void> {
    for (const name of this.#actors.keys()) if (this.waitingOf(name) !== undefined) await this.kill(name)
    await this.makeDue(null)
  }

  note(text: string): void {
    this.notes.push(text)
  }

  /** The lease, or the pause, is over; null: there is nothing more to do. The recipient at the provider is made again. */
  async makeDue(at: 'now' | null): Promise<void> {
    await query(this.#stage.db, {
      name: 'traces.due',
      text: /* sql */ `
        update withdrawals set recipient_code = null,
          due_at = case when $2 and send_state not in (${sqlList(heldStates)}) then clock_timestamp() end where reference = $1`,
      values: [this.reference, at === 'now'],
    })
  }

  async readMail(kind: string): Promise<string> {
    const [row] = await query<QueuedEmail>(this.#stage.db, {
      name: 'traces.mail',
      text: `select subject, body from emails where kind = $1 and body::text like '%' || $2 || '%' order by created_at desc, id desc limit 1`,
      values: [kind, this.reference],
    })
    return mailText(row)
  }

  passTime(): Promise<void> {
    this.#stage.clock.now += settleMs
    return this.#stage.turns.setDatabaseTime()
  }

  async read(): Promise<Stored> {
    const [stored] = await query<Stored>(this.#stage.db, {
      name: 'traces.stored',
      text: /* sql */ `
        select (select jsonb_build_object(
            'status', w.status, 'send', w.send_state, 'sends', least(w.sends, 3),
            'sentAt', (extract(epoch from w.sent_at) * 1000000)::int8::text,
            'settled', coalesce(clock_timestamp() - w.sent_at >= interval '900 s', false), 'attempts', w.attempts, 'old', ${looksUp('w')},
            'adopted', w.adopted_at is not null, 'recredited', w.recredited_at is not null,
            'resolved', w.paid_kobo is not null,
            'reviews', coalesce((select jsonb_agg(distinct case when r.resolved_at is null then r.kind else '(' || r.kind || ')' end)
              from review_items r where r.withdrawal_id = w.id and (r.resolved_at is null
                or r.outdated_at is null and r.kind <> all($3))), '[]')) from withdrawals w where w.reference = $2) as row,
          coalesce((select balance / $4 from ledger_accounts where user_id = $1 and kind = 'available' and currency = 'USDC'), 0)::int as available,
          coalesce((select balance / $4 from ledger_accounts where user_id = $1 and kind = 'held' and currency = 'USDC'), 0)::int as held,
          coalesce((select sum(e.amount) > 0 from ledger_transfers t join ledger_entries e on e.transfer_id = t.id
            join ledger_accounts a on a.id = e.account_id where t.ref = $2 and a.kind = 'fx' and a.currency = 'USDC'), false)::int as paid`,
      values: [this.userId, this.reference, selfClosingKinds, unit.micro],
    })
    if (stored === undefined) throw new Error('nothing is stored')
    return stored
  }

  #actorOf(name: string): Actor {
    const known = this.#actors.get(name)
    if (known !== undefined) return known
    const process = new Process(name, this.#stage.turns)
    process.frozenUntil = far
    const { db, turns, config, clock } = this.#stage
    const payouts: Payouts = {
      deduplicates: this.#deduplicates,
      findTransfer: (reference) => turns.call('find', () => this.#shown(reference)),
      async *listTransfers() {
        yield []
      },
      readBalance: () => turns.call('the balance', () => 0n),
      listBanks: () => turns.call('the banks', () => [bank]),
      resolveAccountName: () => turns.call('a name', () => 'ADA OBI'),
    }
    const exchangeRates = {
      read: () =>
        turns.call('the rate', () => ({
          value: (this.isRateLow ? lowRate : usualRate) * 100_000_000n,
          asOf: new Date(clock.now),
        })),
    }
    const web = composeWeb({
      config,
      metrics,
      db,
      payouts,
      collections: undefined as never,
      exchangeRates,
      wake: () => undefined,
      say: () => undefined,
    })
    const sender: PayoutSender = {
      createRecipient: () =>
        turns.call('a recipient', () => {
          if (this.refusesPayee) throw new ProviderError('rejected', 'Account number is invalid')
          return 'RCP_1'
        }),
      send: ({ reference }) => turns.call('send', () => this.#answer(name, reference)),
    }
    const { services } = web
    const batch = name.startsWith('sender')
      ? createSendBatch(services, payoutKind({ ...services, sender }))
      : createFollowBatch(services, withdrawalKind(services))
    const actor = { process, web, batch }
    this.#actors.set(name, actor)
    return actor
  }

  #answer(name: string, reference: string): string {
    const { outcome } = this
    this.outcome = undefined
    if (outcome === 'accepted') return reference
    if (outcome === undefined) this.note(`${name} sends`)
    throw new ProviderError(outcome ?? 'ambiguous', 'it is refused, or nobody knows')
  }

  #shown(reference: string): ProviderTransfer | undefined {
    const found = shownBy(this.state)
    if (found === null || reference.toUpperCase() !== this.reference) return undefined
    const amountKobo = found.other ? unit.otherKobo : unit.netKobo
    return {
      id: reference,
      reference,
      amountKobo,
      feeKobo: 0n,
      currency: 'NGN',
      state: found.state,
      reason: null,
    }
  }
}
