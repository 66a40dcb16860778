import { ProviderError } from '../../src/kernel/provider-error.js'
import type { Collections, Payment } from '../../src/ports/collections.js'
import type { PayoutSender } from '../../src/ports/payout-sender.js'
import type { Payouts, ProviderTransfer, TransferState } from '../../src/ports/payouts.js'
import type { ProviderRefund, Refunds } from '../../src/ports/refunds.js'
import type { Chance } from './chance.js'
import type { Clock } from './clocks.js'
import type { Turns } from './turns.js'

/** A transfer as it really is. What `findTransfer` shows may lag, and once be wrong. */
export interface Transfer {
  readonly id: string
  readonly reference: string
  readonly amountKobo: bigint
  readonly executedAt: number
  state: TransferState
  /** When its money last left or came back. */
  changedAt: number
}

export interface Charge {
  readonly reference: string
  readonly amountKobo: bigint
  readonly payments: Payment[]
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** What was executed is shown within this time, and a request that hangs is executed within it or never (docs/decisions/0019). */
const lagMs = 14 * minuteMs
/** How often a call goes as documented, and how else. */
const sending = { accept: 100, reject: 3, refuse: 4, lose: 5, 'lose the answer': 6, 'execute late': 3 }
const oddity = 'the provider'
const bank = { code: '058', name: 'Guaranty Trust Bank' }
/** What it takes for each transfer. */
export const feeKobo = 1_000n

type Outage = () => ProviderError
const unavailable: Outage = () => new ProviderError('unavailable', 'the provider is not available')
const ambiguous: Outage = () => new ProviderError('ambiguous', 'the provider did not answer')

/** The naira provider: what it really has, and how it answers. Everything that it may do without breaking its word, it does. */
export class Provider {
  readonly transfers = new Map<string, Transfer>()
  readonly charges = new Map<string, Charge>()
  readonly refunds: (ProviderRefund & { readonly requestedAt: number })[] = []
  /** Kobo that it has for us, from zero. */
  balanceKobo = 0n
  /** The references about which it has said two things. */
  readonly fickle = new Set<string>()
  /** What no provider of its kind does. */
  readonly broken: string[] = []
  /** There is news of this reference. */
  onNews: (reference: string) => void = () => undefined
  tell: (text: string) => void = () => undefined
  readonly deduplicates: boolean
  readonly #turns: Turns
  readonly #clock: Clock
  readonly #chance: Chance
  #ids = 0

  constructor(turns: Turns, clock: Clock, chance: Chance, deduplicates: boolean) {
    this.#turns = turns
    this.#clock = clock
    this.#chance = chance
    this.deduplicates = deduplicates
  }

  readonly sender: PayoutSender = {
    createRecipient: (account) =>
      this.#ask('a recipient', () => `RCP_${account.bankCode}${account.accountNumber}`),
    send: ({ reference, amountKobo }) =>
      this.#turns.call(`send ${reference}`, () => this.#send(reference, amountKobo)),
  }

  get payouts(): Payouts {
    return {
      deduplicates: this.deduplicates,
      findTransfer: (reference) => this.#ask(`find ${reference}`, () => this.#show(reference)),
      listTransfers: (from, to) => this.#listTransfers(from, to),
      readBalance: () => this.#ask('the balance', () => this.balanceKobo),
      listBanks: () => this.#ask('the banks', () => [bank]),
      resolveAccountName: () => this.#ask('a name', () => 'ADA OBI'),
    }
  }

  readonly collections: Collections = {
    openCheckout: (charge) =>
      this.#ask(`open ${charge.reference}`, () => {
        this.charges.set(charge.reference, { ...charge, payments: [] })
        return `https://checkout.example/${charge.reference}`
      }),
    openTransferAccount: (charge) =>
      this.#ask(`open ${charge.reference}`, () => {
        this.charges.set(charge.reference, { ...charge, payments: [] })
        return { bankName: bank.name, accountNumber: '0123456789', accountName: 'Tips' }
      }),
    findCharge: (reference) =>
      this.#ask(`find ${reference}`, () => {
        const newest = this.charges.get(reference)?.payments.at(-1)
        if (newest === undefined) return { status: 'unpaid' } as const
        return { status: 'paid', newest } as const
      }),
    listPayments: (reference) =>
      this.#ask(`payments of ${reference}`, () => [...(this.charges.get(reference)?.payments ?? [])]),
    async *listAllPayments() {
      yield []
    },
    async *listReversedPayments() {
      yield []
    },
    readWebhook: (raw) => new TextDecoder().decode(raw),
  }

  readonly returns: Refunds = {
    request: ({ transaction, kobo, note }) =>
      this.#turns.call(`refund ${note}`, () => {
        const how = this.#strikes('refund', 0.2) ? this.#draw('refund how', sending) : 'accept'
        if (how === 'reject') throw new ProviderError('rejected', 'Refund not possible')
        if (how === 'refuse') throw unavailable()
        if (how === 'lose') throw ambiguous()
        const request = () => this.#refund(transaction, kobo, note)
        if (how === 'execute late') this.#turns.after(this.#chance.between('late', 0, lagMs), request)
        if (how === 'lose the answer') request()
        if (how !== 'accept') throw ambiguous()
        return request()
      }),
    list: (transaction) =>
      this.#ask(`refunds of ${transaction}`, () =>
        this.refunds.filter((one) => one.transaction === transaction),
      ),
    async *listAll() {
      yield []
    },
  }

  /** A payer pays. */
  pay(charge: Charge, kobo: bigint): void {
    charge.payments.push({
      transaction: String(++this.#ids),
      kobo,
      feeKobo: 0n,
      reversed: false,
      paidAt: new Date(this.#clock.now),
      byCard: false,
    })
    this.balanceKobo += kobo
    this.tell(`a payer pays ${kobo} kobo for ${charge.reference}`)
    this.#news(charge.reference)
  }

  #send(reference: string, amountKobo: bigint): string {
    const how = this.#strikes('send', 0.25) ? this.#draw('send how', sending) : 'accept'
    const known = this.transfers.get(reference)
    this.tell(
      `the provider is asked to send ${reference}: ${known && this.deduplicates ? 'a used reference' : how}`,
    )
    if (how === 'refuse') throw unavailable()
    if (how === 'lose') throw ambiguous()
    if (known !== undefined && this.deduplicates) throw new ProviderError('ambiguous', 'Duplicate reference')
    if (how === 'reject') throw new ProviderError('rejected', 'Account number is invalid')
    if (how === 'execute late') {
      this.#turns.after(this.#chance.between('late', 0, lagMs), () => {
        if (!this.deduplicates || !this.transfers.has(reference)) this.#execute(reference, amountKobo)
      })
      throw ambiguous()
    }
    const { id } = this.#execute(reference, amountKobo)
    if (how === 'lose the answer') throw ambiguous()
    return id
  }

  #execute(reference: string, amountKobo: bigint): Transfer {
    if (this.transfers.has(reference)) this.broken.push(`${reference} was executed a second time`)
    const { now } = this.#clock
    const transfer: Transfer = {
      id: String(++this.#ids),
      reference,
      amountKobo,
      executedAt: now,
      state: 'accepted',
      changedAt: now,
    }
    this.transfers.set(reference, transfer)
    this.balanceKobo -= amountKobo + feeKobo
    this.tell(`the provider executes ${reference}`)
    const paidInMs = this.#chance.between(
      'paid ms',
      1000,
      this.#chance.next('slow bank') < 0.1 ? 2 * hourMs : 20_000,
    )
    this.#turns.after(paidInMs / 2, () => this.#become(transfer, 'started'))
    this.#turns.after(paidInMs, () => {
      this.#become(transfer, this.#strikes('fail', 0.05) ? 'failed' : 'paid')
      this.#mayTurn(transfer, 0.05)
    })
    return transfer
  }

  /** What has ended may end otherwise, hours or days later, and then turn back. */
  #mayTurn(transfer: Transfer, probability: number): void {
    if (!this.#strikes('turn', probability)) return
    this.fickle.add(transfer.reference)
    this.#turns.after(this.#chance.between('turn ms', 1000, 2 * dayMs), () => {
      this.#become(transfer, isAway(transfer) ? 'returned' : 'paid')
      this.#mayTurn(transfer, 0.4)
    })
  }

  #become(transfer: Transfer, state: TransferState): void {
    const before = isAway(transfer)
    transfer.state = state
    if (before !== isAway(transfer)) transfer.changedAt = this.#clock.now
    const moved = transfer.amountKobo + feeKobo
    if (before && !isAway(transfer)) this.balanceKobo += moved
    if (!before && isAway(transfer)) this.balanceKobo -= moved
    this.tell(`the provider's transfer ${transfer.reference} is ${state}`)
    this.#news(transfer.reference)
  }

  #show(reference: string): ProviderTransfer | undefined {
    const transfer = this.transfers.get(reference)
    if (transfer === undefined) return undefined
    const { executedAt } = transfer
    if (this.#clock.now - executedAt < lagMs && this.#strikes('lag', 0.05)) return undefined
    const shown = shownAs(transfer)
    if (!this.#strikes('lie', 0.004)) return shown
    this.fickle.add(reference)
    this.tell(`the provider says once that ${reference} has failed`)
    return { ...shown, state: 'failed' }
  }

  async *#listTransfers(from: Date, to: Date): AsyncGenerator<readonly ProviderTransfer[]> {
    yield this.#ask('the list of transfers', () =>
      [...this.transfers.values()]
        .filter(({ executedAt }) => executedAt >= from.getTime() && executedAt <= to.getTime())
        .map(shownAs),
    )
  }

  #refund(transaction: string, kobo: bigint, note: string): ProviderRefund {
    const refund = {
      id: String(++this.#ids),
      transaction,
      kobo,
      state: 'started' as const,
      dispute: null,
      note,
      requestedAt: this.#clock.now,
    }
    if (this.refunds.some((other) => other.note === note && other.state !== 'failed'))
      this.broken.push(`${note} was executed a second time`)
    this.refunds.push(refund)
    this.balanceKobo -= kobo
    this.tell(`the provider takes ${note}`)
    this.#turns.after(this.#chance.between('refund ms', 1000, dayMs), () => {
      const failed = this.#strikes('refund fails', 0.05)
      if (failed) this.balanceKobo += kobo
      this.refunds[this.refunds.indexOf(refund)] = { ...refund, state: failed ? 'failed' : 'paid' }
      this.tell(`the provider's refund ${note} is ${failed ? 'failed' : 'paid'}`)
      this.#news(note)
    })
    return refund
  }

  /** Webhooks come late, twice, in another order, or not at all. */
  #news(reference: string): void {
    const copies = this.#strikes('webhook lost', 0.15) ? 0 : this.#strikes('webhook twice', 0.1) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const late = this.#strikes('webhook late', 0.1) ? hourMs : 2000
      this.#turns.after(this.#chance.between('webhook ms', 10, late), () => this.onNews(reference))
    }
  }

  #ask<Answer>(text: string, act: () => Answer): Promise<Answer> {
    return this.#turns.call(text, () => {
      if (this.#strikes('away', 0.04)) throw unavailable()
      if (this.#strikes('no answer', 0.02)) throw ambiguous()
      return act()
    })
  }

  #strikes(what: string, probability: number): boolean {
    return this.#chance.strikes(`${oddity}: ${what}`, probability)
  }

  #draw<Kind extends string>(what: string, weights: { readonly [name in Kind]: number }): Kind {
    return this.#chance.choose(`${oddity}: ${what}`, weights)
  }
}

function shownAs({ id, reference, amountKobo, state }: Transfer): ProviderTransfer {
  return { id, reference, amountKobo, feeKobo, currency: 'NGN', state, reason: null }
}

/** Its money is not with us. */
export function isAway({ state }: Transfer): boolean {
  return state !== 'failed' && state !== 'returned'
}
