import { join } from 'node:path'
import { CallCounter } from '../call-counter.js'
import { Tally } from '../tally.js'
import { Behaviour } from './behaviour.js'
import { Book } from './book.js'
import { chargeStatus, transactionJson } from './charges/transaction-json.js'
import { Ids } from './ids.js'
import type { Charge, Outcome, Recipient, Transfer } from './records.js'
import { TransferClock } from './transfers/transfer-clock.js'
import { transferJson } from './transfers/transfer-json.js'
import { Webhooks } from './webhooks.js'

export interface FiatpayOptions {
  /** Directory of the books; without it they live in memory. */
  readonly dataDir?: string | undefined
  /** What callers authorize with and webhooks are signed with. */
  readonly secretKey?: string | undefined
  /** Where webhooks go; without it nowhere. */
  readonly webhookUrl?: string | undefined
}

/** What callers authorize with when nothing else is said. */
const sandboxSecretKey = 'sk_test_sandbox'
const failureTexts = { failed: 'Transfer could not be processed', reversed: 'Transfer reversed' }

/** Stands in for the provider of naira payments and payouts, in the wire format of Paystack's API. */
export class Fiatpay {
  readonly secretKey: string
  readonly behaviour = new Behaviour()
  readonly ids = new Ids()
  readonly charges: Book<Charge>
  readonly recipients: Book<Recipient>
  readonly transfers: Book<Transfer>
  readonly webhooks: Webhooks
  /** What the API was asked, by endpoint; how often each transfer was sent and looked up. */
  readonly calls = new CallCounter()
  readonly sendings = new Tally()
  readonly lookups = new Tally()
  readonly #clock = new TransferClock((transfer) => this.#settle(transfer))

  /** Takes up where books on disk left off. Throws when they cannot be read. */
  constructor({ dataDir, secretKey = sandboxSecretKey, webhookUrl }: FiatpayOptions = {}) {
    const file = (name: string) =>
      dataDir === undefined ? undefined : join(dataDir, `fiatpay-${name}.jsonl`)
    this.secretKey = secretKey
    this.charges = new Book(file('charges'), this.ids)
    this.recipients = new Book(file('recipients'), this.ids)
    this.transfers = new Book(file('transfers'), this.ids)
    this.webhooks = new Webhooks(secretKey, this.behaviour, webhookUrl)
    for (const transfer of this.transfers.all()) this.#clock.start(transfer)
  }

  /** Books money for a charge, whatever became of it before; a further payment is a transaction of its own. */
  pay(charge: Charge, amountKobo: number): Charge {
    const id = charge.payments.length === 0 ? charge.id : this.ids.next()
    const payment = { id, amountKobo, paidAt: new Date().toISOString() }
    const paid = this.charges.write({ ...charge, payments: [...charge.payments, payment] })
    this.webhooks.announce('charge.success', transactionJson(paid, payment))
    return paid
  }

  /** Lets a charge fail. Of this the provider tells nobody who does not ask. */
  failCharge(charge: Charge): Charge {
    return this.charges.write({ ...charge, failure: 'Declined' })
  }

  /** Starts the clock of a transfer that is in the book. */
  readonly executed = (transfer: Transfer): void => this.#clock.start(transfer)

  /** Gives a transfer an outcome, whatever it had before; nothing happens when it is the one it has. */
  moveTransfer(transfer: Transfer, outcome: Outcome, reason?: string): void {
    if (transfer.status === outcome) return
    this.#clock.stop(transfer)
    const updatedAt = new Date().toISOString()
    const failure = outcome === 'success' ? null : (reason ?? failureTexts[outcome])
    const moved = this.transfers.write({ ...transfer, status: outcome, updatedAt, failure })
    this.webhooks.announce(
      `transfer.${outcome}`,
      transferJson(moved, this.recipients.find(moved.recipientCode)),
    )
  }

  /** The outside truth: a line for every charge, and for every time money was sent. */
  log() {
    return {
      charges: this.charges.all().map((charge) => ({
        reference: charge.reference,
        amountKobo: charge.amountKobo,
        paidKobo: charge.payments.reduce((sum, { amountKobo }) => sum + amountKobo, 0),
        status: chargeStatus(charge),
      })),
      transfers: this.transfers.all().map(({ reference, amountKobo, recipientCode, status, executedAt }) => ({
        reference,
        amountKobo,
        accountNumber: this.recipients.find(recipientCode)?.accountNumber ?? '',
        status,
        executedAt,
      })),
    }
  }

  /** Back to how it started: empty books, no faults. */
  reset(): void {
    this.#clock.stopAll()
    this.webhooks.stop()
    this.behaviour.reset()
    for (const part of [
      this.charges,
      this.recipients,
      this.transfers,
      this.calls,
      this.sendings,
      this.lookups,
    ])
      part.reset()
  }

  close(): void {
    this.#clock.stopAll()
    this.webhooks.stop()
    for (const book of [this.charges, this.recipients, this.transfers]) book.close()
  }

  #settle({ id, settles }: Transfer): void {
    const transfer = this.transfers.get(id)
    if (transfer?.status === 'pending' && settles !== null) this.moveTransfer(transfer, settles.outcome)
  }
}
