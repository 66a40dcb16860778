import { createHash } from 'node:crypto'
import { createFiatIntent } from '../../src/fiat/intents/create-intent.js'
import { refundTip } from '../../src/fiat/refunds/request-refund.js'
import { fiatIntentInput } from '../../src/fiat/schemas.js'
import { DomainError } from '../../src/kernel/errors.js'
import { noOrigin } from '../../src/kernel/trace-context.js'
import { pausePayouts, resumePayouts } from '../../src/outgoing/guards.js'
import { cancelWithdrawal, confirmWithdrawal } from '../../src/withdrawals/confirmation/confirm.js'
import { compareTransfers } from '../../src/withdrawals/reconcile/compare-statement.js'
import { withdraw } from '../../src/withdrawals/request/withdraw.js'
import type { OperatorAction } from '../../src/withdrawals/review/check-action.js'
import { Order } from '../ops/support/order.js'
import { decideRefund, readRefund } from '../ops/support/outgoing/refunds.js'
import { withdrawals } from '../ops/support/outgoing/withdrawals.js'
import type { Chance } from './chance.js'
import type { Web } from './compose.js'
import type { Provider } from './provider.js'
import type { Turns } from './turns.js'
import type { World } from './world.js'

const tries = 6
const patienceMs = { least: 500, most: 30_000 }
const bankCode = '058'
/** What people do, and how often. */
const acts = {
  withdraw: 40,
  'withdraw twice': 6,
  cancel: 6,
  confirm: 8,
  tip: 24,
  refund: 8,
  operate: 12,
  'operate twice': 4,
  'decide a refund': 4,
  pause: 1,
}
const actions: readonly (OperatorAction | 'ask')[] = [
  'ask',
  'replay',
  'release',
  'void',
  'recredit',
  'resolve',
  'close',
  'reopen',
]
const refundActions = ['retry', 'give-back', 'returned'] as const
/** Of the price of a tip, in percent. */
const shares = [100, 100, 100, 100, 100, 99.5, 50, 130]

/** What was told to people, and what they have made. */
export interface Told {
  readonly references: string[]
  readonly intents: string[]
  /** The withdrawals of which operators said how much was paid, right or wrong. */
  readonly resolved: Set<string>
  /** The refunds of which operators said that the payer has the money, right or wrong. */
  readonly returned: Set<string>
}

/** Creators, payers and operators. They press everything, twice and at the worst moment, and do not give up. */
export class People {
  readonly told: Told = { references: [], intents: [], resolved: new Set(), returned: new Set() }
  tell: (text: string) => void = () => undefined
  readonly #world: World
  readonly #turns: Turns
  readonly #chance: Chance
  readonly #provider: Provider
  readonly #creators: readonly string[]

  constructor(world: World, turns: Turns, chance: Chance, provider: Provider, creators: readonly string[]) {
    this.#world = world
    this.#turns = turns
    this.#chance = chance
    this.#provider = provider
    this.#creators = creators
  }

  /** Has people do so many things within this time. */
  plan(count: number, ms: number): void {
    for (let nth = 1; nth <= count; nth++) {
      if (!this.#chance.strikes('act', 1)) continue
      const kind = `act ${nth}`
      const act = this.#chance.choose(kind, acts)
      this.#turns.after(
        this.#chance.at('act at', nth) * ms,
        () => void this.#act(act, kind).catch(() => undefined),
      )
    }
  }

  async cancel(reference: string, kind: string): Promise<void> {
    this.tell(`its creator cancels ${reference}`)
    const userId = await this.#world.creatorOf(reference)
    await this.#repeat(kind, ({ services }) => cancelWithdrawal(services, { userId, reference }))
  }

  /** One order of an operator, which may be refused. */
  order(reference: string, action: OperatorAction | 'ask', paidKobo = 0n): Promise<void> {
    this.tell(`an operator orders ${action} of ${reference}`)
    if (action === 'resolve') this.told.resolved.add(reference)
    const paid =
      action === 'resolve' ? `${paidKobo / 100n}.${String(paidKobo % 100n).padStart(2, '0')}` : undefined
    const now = action === 'recredit' ? true : undefined
    return this.#command(({ services }) =>
      withdrawals.act(services, action, [reference], orderOf(reference), { now, paid }),
    )
  }

  orderRefund(id: string, action: (typeof refundActions)[number]): Promise<void> {
    this.tell(`an operator orders ${action} of ${id}`)
    if (action === 'returned') this.told.returned.add(id)
    return this.#command(async ({ services }) =>
      decideRefund(services, this.#provider.returns, await readRefund(services.db, id), action, orderOf(id)),
    )
  }

  /** Has the provider asked about each withdrawal that its list shows otherwise. `days`: how far back. Returns how many there were. */
  async compare(days: number): Promise<number> {
    const differences = await this.#world.command(({ services }) => compareTransfers(services, 24 * days))
    for (const { providerReference } of differences) await this.order(providerReference.toUpperCase(), 'ask')
    return differences.length
  }

  switchPayouts(on: boolean): Promise<void> {
    this.tell(`an operator ${on ? 'lets payouts run' : 'pauses payouts'}`)
    const change = { reason: 'a simulation', by: 'operator' }
    return this.#command(({ services }) =>
      services.transact((uow) => (on ? resumePayouts(uow, change) : pausePayouts(uow, change))),
    )
  }

  async #act(act: keyof typeof acts, kind: string): Promise<void> {
    const chance = this.#chance
    const creator = chance.oneOf(kind, this.#creators) ?? ''
    if (act === 'withdraw') return this.#withdraw(creator, kind, kind)
    if (act === 'withdraw twice') {
      const amount = chance.whole(kind, 1, 20)
      await Promise.all([1, 2].map((nth) => this.#withdraw(creator, `${kind} ${nth}`, kind, amount)))
    }
    if (act === 'tip') return this.#tip(creator, kind)
    if (act === 'refund') return this.#refund(kind)
    if (act === 'pause') return this.#pause(kind)
    if (act === 'decide a refund') {
      const id = recent(chance, kind, await this.#world.refundIds())
      if (id !== undefined) await this.orderRefund(id, chance.oneOf(kind, refundActions) ?? 'retry')
    }
    const reference = recent(chance, kind, this.told.references)
    if (reference !== undefined) await this.#actOn(reference, act, kind)
  }

  async #actOn(reference: string, act: keyof typeof acts, kind: string): Promise<void> {
    const chance = this.#chance
    if (act === 'cancel') return this.cancel(reference, kind)
    if (act === 'confirm') return this.#confirm(reference, kind)
    const times = act === 'operate' ? 1 : act === 'operate twice' ? 2 : 0
    await Promise.all(
      Array.from({ length: times }, (_, nth) => {
        const action = chance.oneOf(`${kind} ${nth}`, actions) ?? 'ask'
        return this.order(reference, action, BigInt(chance.whole(kind, 0, 3)) * 500_000n)
      }),
    )
  }

  async #pause(kind: string): Promise<void> {
    await this.switchPayouts(false)
    await this.#wait(kind, 1_800_000)
    await this.switchPayouts(true)
  }

  async #confirm(reference: string, kind: string): Promise<void> {
    this.tell(`its creator confirms ${reference}`)
    const own = { userId: await this.#world.creatorOf(reference), reference }
    const code = await this.#world.codeFor(reference)
    await this.#repeat(kind, ({ services, rates }) => confirmWithdrawal(services, rates, own, { code }))
  }

  /** Until it has an answer, under one key. */
  async #withdraw(userId: string, kind: string, key: string, dollars = this.#chance.whole(kind, 1, 20)) {
    const keyHash = createHash('sha256').update(key).digest()
    const requester = {
      userId,
      network: '192.0.2.1',
      deviceHash: keyHash,
      sessionHash: createHash('sha256').update(userId).digest(),
      sessionAge: 1_000_000,
      origin: noOrigin,
      keyedRequest: { keyHash, requestHash: keyHash, holder: key },
    }
    // A new account of theirs waits for a confirmation.
    const nth = this.#chance.next(kind) < 0.2 ? this.#chance.whole(kind, 1, 3) : 0
    const accountNumber = `${Number.parseInt(userId.slice(0, 7), 16)}${nth}`.padStart(10, '0')
    const input = { bankCode, accountNumber, accountName: 'Ada Obi', amountUSDC: dollars }
    this.tell(`a creator withdraws ${dollars} USDC`)
    const answer = await this.#repeat(kind, ({ services, tools }) =>
      withdraw(services, tools, input, requester),
    )
    if (answer === undefined) return
    const { reference } = answer
    if (!this.told.references.includes(reference)) this.told.references.push(reference)
    // Who has just asked thinks better of it.
    if (this.#chance.next(kind) < 0.2) {
      await this.#wait(kind, 5000)
      await this.cancel(reference, kind)
    }
  }

  async #tip(creatorId: string, kind: string): Promise<void> {
    const chance = this.#chance
    const input = fiatIntentInput.parse({ creatorId, amount: chance.whole(kind, 1, 50) })
    const answer = await this.#repeat(kind, ({ services, rates }) =>
      createFiatIntent(services, rates, input, { network: '192.0.2.2' }),
    )
    if (answer === undefined) return
    this.told.intents.push(answer.intentId)
    const charge = this.#provider.charges.get(answer.intentId.replace('_', '-'))
    if (charge === undefined) return
    for (let times = chance.whole(kind, 0, 2); times > 0; times--) {
      await this.#wait(kind, chance.next(kind) < 0.2 ? 7_200_000 : 120_000)
      const percent = chance.oneOf(kind, shares) ?? 100
      this.#provider.pay(charge, (charge.amountKobo * BigInt(percent * 10)) / 1000n)
    }
  }

  async #refund(kind: string): Promise<void> {
    const id = recent(this.#chance, kind, this.told.intents)
    if (id === undefined) return
    const userId = await this.#world.creatorOfTip(id)
    const part = this.#chance.next(kind) < 0.5 ? {} : { amountUSD: this.#chance.whole(kind, 1, 10) }
    this.tell(`its creator gives ${id} back`)
    await this.#repeat(
      kind,
      ({ services, rates }) => refundTip(services, rates, userId, { id, ...part }, undefined),
      1,
    )
  }

  /** Undefined: it was refused, or there was no answer until the end. */
  async #repeat<Answer>(
    kind: string,
    ask: (web: Web) => Promise<Answer>,
    most = tries,
  ): Promise<Answer | undefined> {
    for (let nth = 0; nth < most; nth++) {
      try {
        return await this.#world.request(kind, ask)
      } catch (error) {
        const isRefused = error instanceof DomainError
        this.tell(`${kind} ${isRefused ? 'is refused' : 'has no answer'}: ${firstLine(error)}`)
        if (isRefused) return undefined
        await this.#wait(kind, patienceMs.most)
      }
    }
    return undefined
  }

  async #command(run: (web: Web) => Promise<unknown>): Promise<void> {
    try {
      await this.#world.command(run)
    } catch (error) {
      this.tell(`the command ends: ${firstLine(error)}`)
    }
  }

  #wait(kind: string, mostMs: number): Promise<void> {
    return new Promise((done) =>
      this.#turns.after(this.#chance.between(kind, patienceMs.least, mostMs), done),
    )
  }
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
}

function orderOf(confirm: string): Order {
  return new Order({ apply: true, as: 'operator', reason: 'a simulation', confirm })
}

/** Most acts are about what has just happened. */
function recent<Item>(chance: Chance, kind: string, items: readonly Item[]): Item | undefined {
  return chance.oneOf(kind, chance.next(kind) < 0.8 ? items.slice(-8) : items)
}
