import { join } from 'node:path'
import { CallCounter, Counter } from '../counters.js'
import { chargeStatus, transactionJson } from './charges/transaction-json.js'
import { FiatpayFaults } from './faults.js'
import { OutcomeTimers } from './outcome-timers.js'
import { Ids, RecordStore } from './record-store.js'
import type { Charge, Outcome, Recipient, Refund, RefundOutcome, Transfer } from './records.js'
import { refundEvent, refundStatus } from './refunds/refunds.js'
import { transferJson } from './transfers/transfer-json.js'
import { Webhooks } from './webhooks.js'

export interface FiatpayOptions {
  /** Directory of the records. Without it they are in memory. */
  readonly dataDir?: string | undefined
  /** The key with which callers authorize and webhooks are signed. */
  readonly secretKey?: string | undefined
  /** Where webhooks go. Without it none are sent. */
  readonly webhookUrl?: string | undefined
}

/** The default secret key. */
const sandboxSecretKey = 'sk_test_sandbox'
const failureTexts = { failed: 'Transfer could not be processed', reversed: 'Transfer reversed' }

/** The stand-in for the provider of naira payments and payouts, in the wire format of Paystack's API. */
export class Fiatpay {
  readonly secretKey: string
  readonly faults = new FiatpayFaults()
  readonly ids = new Ids()
  readonly charges: RecordStore<Charge>
  readonly recipients: RecordStore<Recipient>
  readonly transfers: RecordStore<Transfer>
  readonly refunds: RecordStore<Refund>
  readonly webhooks: Webhooks
  /** Calls by endpoint, and how often each transfer was sent and looked up. */
  readonly calls = new CallCounter()
  readonly sendings = new Counter()
  readonly lookups = new Counter()
  readonly #timers = new OutcomeTimers((id) => this.#applyPlannedOutcome(id))

  /** Continues with the records on disk. Throws when they cannot be read. */
  constructor({ dataDir, secretKey = sandboxSecretKey, webhookUrl }: FiatpayOptions = {}) {
    const file = (name: string) =>
      dataDir === undefined ? undefined : join(dataDir, `fiatpay-${name}.jsonl`)
    this.secretKey = secretKey
    this.charges = new RecordStore(file('charges'), this.ids)
    this.recipients = new RecordStore(file('recipients'), this.ids)
    this.transfers = new RecordStore(file('transfers'), this.ids)
    this.refunds = new RecordStore(file('refunds'), this.ids)
    this.webhooks = new Webhooks(secretKey, this.faults, webhookUrl)
    for (const transfer of this.transfers.all()) this.transferExecuted(transfer)
    for (const refund of this.refunds.all()) this.refundTaken(refund)
  }

  /** Records a payment of a charge in any state. A further payment is a new transaction. */
  pay(charge: Charge, amountKobo: number): Charge {
    const id = charge.payments.length === 0 ? charge.id : this.ids.next()
    const payment = { id, amountKobo, paidAt: new Date().toISOString() }
    const paid = this.charges.write({ ...charge, payments: [...charge.payments, payment] })
    this.webhooks.send('charge.success', transactionJson(paid, payment))
    return paid
  }

  /** Makes a charge fail. As at the provider, no webhook reports it. */
  failCharge(charge: Charge): Charge {
    return this.charges.write({ ...charge, failure: 'Declined' })
  }

  /** Starts the timer of a stored transfer. Does nothing when it has an outcome or has no planned one. */
  readonly transferExecuted = ({ id, settles, status }: Transfer): void => {
    if (settles !== null && status === 'pending') this.#timers.start(id, settles.at)
  }

  /** Starts the timer of a stored refund, likewise. */
  readonly refundTaken = ({ id, settlesAt, status }: Refund): void => {
    if (settlesAt !== null && status === 'pending') this.#timers.start(id, settlesAt)
  }

  /** Gives a refund an outcome. Does nothing when it has this outcome. */
  setRefundOutcome(refund: Refund, outcome: RefundOutcome): void {
    if (refund.status === outcome) return
    this.#timers.stop(refund.id)
    const changed = this.refunds.write({ ...refund, status: outcome })
    const [charge] = this.charges.listByReference(refund.reference)
    // The provider documents no webhook for a refund that needs attention.
    if (outcome !== 'needs-attention')
      this.webhooks.send(`refund.${outcome}`, refundEvent(changed, charge?.email), refund.reference)
  }

  /** Gives a transfer an outcome, also when it already has another one. Does nothing when it has this outcome. */
  setOutcome(transfer: Transfer, outcome: Outcome, reason?: string): void {
    if (transfer.status === outcome) return
    this.#timers.stop(transfer.id)
    const updatedAt = new Date().toISOString()
    const failure = outcome === 'success' ? null : (reason ?? failureTexts[outcome])
    const changed = this.transfers.write({ ...transfer, status: outcome, updatedAt, failure })
    this.webhooks.send(
      `transfer.${outcome}`,
      transferJson(changed, this.recipients.find(changed.recipientCode)),
    )
  }

  /** What the provider has done: an entry for every charge, and for every transfer it executed. */
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
      refunds: this.refunds.all().map((refund) => ({
        transaction: refund.transaction,
        reference: refund.reference,
        amountKobo: refund.amountKobo,
        status: refundStatus(refund),
      })),
    }
  }

  /** Deletes all records and faults. */
  reset(): void {
    this.#timers.stopAll()
    this.webhooks.stop()
    this.faults.reset()
    for (const part of [
      this.charges,
      this.recipients,
      this.transfers,
      this.refunds,
      this.calls,
      this.sendings,
      this.lookups,
    ])
      part.reset()
  }

  close(): void {
    this.#timers.stopAll()
    this.webhooks.stop()
    for (const store of [this.charges, this.recipients, this.transfers, this.refunds]) store.close()
  }

  #applyPlannedOutcome(id: number): void {
    const transfer = this.transfers.get(id)
    if (transfer?.status === 'pending' && transfer.settles !== null)
      this.setOutcome(transfer, transfer.settles.outcome)
    const refund = this.refunds.get(id)
    if (refund?.status === 'pending') this.setRefundOutcome(refund, 'processed')
  }
}
