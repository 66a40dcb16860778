import { join } from 'node:path'
import { CallCounter } from '../counters.js'
import { effects, paymentFee, readBook } from './balance.js'
import { FiatpayFaults } from './faults.js'
import { Ids, RecordStore } from './record-store.js'
import type {
  Charge,
  Dispute,
  Outcome,
  Payment,
  Recipient,
  Refund,
  RefundOutcome,
  Resolution,
  TopUp,
  Transfer,
} from './records.js'
import { Webhooks } from './webhooks.js'
import {
  disputeEvent,
  refundEvent,
  refundStatus,
  transactionJson,
  transactionStatus,
  transferJson,
} from './wire.js'

export interface FiatpayOptions {
  readonly dataDir?: string | undefined
  /** The key with which callers authorize and webhooks are signed. */
  readonly secretKey?: string | undefined
  /** The only key that may send money: transfers and refunds. Without it the secret key may. */
  readonly payoutKey?: string | undefined
  readonly webhookUrl?: string | undefined
  /** Where payers' browsers reach the checkout pages, if not at the host that the caller used. */
  readonly checkoutUrl?: string | undefined
  /** Whether payments and transfers cost the provider's fees, while no mode is set. Without it they do not. */
  readonly fees?: boolean | undefined
}

const sandboxSecretKey = 'sk_test_sandbox'
const failureTexts = { failed: 'Transfer could not be processed', reversed: 'Transfer reversed' }

/** The stand-in for the provider of naira payments and payouts, in the wire format of Paystack's API. */
export class Fiatpay {
  readonly secretKey: string
  readonly payoutKey: string | undefined
  readonly checkoutUrl: string | undefined
  readonly faults: FiatpayFaults
  readonly ids = new Ids()
  readonly charges: RecordStore<Charge>
  readonly recipients: RecordStore<Recipient>
  readonly transfers: RecordStore<Transfer>
  readonly refunds: RecordStore<Refund>
  readonly disputes: RecordStore<Dispute>
  readonly topUps: RecordStore<TopUp>
  readonly disputeFiles = new Map<string, 'named' | 'stored'>()
  readonly webhooks: Webhooks
  /** Calls by endpoint, and how often each transfer was sent and looked up. */
  readonly calls = new CallCounter()
  readonly sendings = new CallCounter()
  readonly lookups = new CallCounter()
  /** By the id of a record with a planned outcome. The ids of all kinds of records differ. */
  readonly #timers = new Map<number, NodeJS.Timeout>()

  /** Continues with the records on disk. Throws when they cannot be read. */
  constructor({
    dataDir,
    secretKey = sandboxSecretKey,
    payoutKey,
    webhookUrl,
    checkoutUrl,
    fees,
  }: FiatpayOptions = {}) {
    const file = (name: string) =>
      dataDir === undefined ? undefined : join(dataDir, `fiatpay-${name}.jsonl`)
    this.secretKey = secretKey
    this.payoutKey = payoutKey
    this.checkoutUrl = checkoutUrl
    this.faults = new FiatpayFaults(fees)
    this.charges = new RecordStore(file('charges'), this.ids, effects.charge)
    this.recipients = new RecordStore(file('recipients'), this.ids)
    this.transfers = new RecordStore(file('transfers'), this.ids, effects.transfer)
    this.refunds = new RecordStore(file('refunds'), this.ids, effects.refund)
    this.disputes = new RecordStore(file('disputes'), this.ids, effects.dispute)
    this.topUps = new RecordStore(file('top-ups'), this.ids, effects.topUp)
    this.webhooks = new Webhooks(secretKey, this.faults, webhookUrl)
    for (const transfer of this.transfers.all()) this.transferExecuted(transfer)
    for (const refund of this.refunds.all()) this.#startRefund(refund)
    for (const dispute of this.disputes.all()) this.#startDispute(dispute)
  }

  /** Records a payment of a charge in any state. A further payment is a new transaction. */
  pay(charge: Charge, amountKobo: number): Charge {
    const id = charge.payments.length === 0 ? charge.id : this.ids.next()
    const feeKobo = this.faults.mode.fees === 'on' ? paymentFee(amountKobo) : 0
    const payment = { id, amountKobo, feeKobo, paidAt: new Date().toISOString() }
    const paid = this.charges.write({ ...charge, payments: [...charge.payments, payment] })
    this.webhooks.send('charge.success', transactionJson(this, paid, payment))
    return paid
  }

  /** The payer's bank takes back what is left of a payment. No webhook reports it. */
  reverse(charge: Charge, payment: Payment, reversedKobo: number): void {
    const payments = charge.payments.map((one) => (one.id === payment.id ? { ...one, reversedKobo } : one))
    this.charges.write({ ...charge, payments })
  }

  openDispute({ reference }: Charge, { id: transaction }: Payment, amountKobo: number): Dispute {
    const now = new Date()
    const createdAt = now.toISOString()
    const dispute = this.disputes.write({
      id: this.ids.next(),
      reference,
      transaction,
      amountKobo,
      shownKobo: amountKobo,
      takenKobo: 0,
      status: 'awaiting-merchant-feedback',
      resolution: null,
      createdAt,
      dueAt: new Date(now.getTime() + this.faults.mode.disputeDueMs).toISOString(),
      updatedAt: createdAt,
      resolvedAt: null,
      message: null,
      fileName: null,
      evidence: null,
    })
    this.#sendDispute('create', dispute)
    this.#startDispute(dispute)
    return dispute
  }

  declineDispute(dispute: Dispute): Dispute {
    this.#stop(dispute.id)
    return this.disputes.write({
      ...dispute,
      status: 'awaiting-bank-feedback',
      resolution: 'declined',
      updatedAt: new Date().toISOString(),
    })
  }

  winDispute(dispute: Dispute): void {
    this.#endDispute(dispute, 'declined', 0)
  }

  /** `auto-accepted`: nobody answered in time, or the bank decided for the payer. */
  loseDispute(dispute: Dispute, resolution: Resolution, takenKobo: number): Dispute {
    return this.#endDispute({ ...dispute, shownKobo: takenKobo }, resolution, takenKobo)
  }

  get balanceKobo(): number {
    return readBook(this).balanceKobo
  }

  /** Makes a charge fail. As at the provider, no webhook reports it. */
  failCharge(charge: Charge): Charge {
    return this.charges.write({ ...charge, failure: 'Declined' })
  }

  /** Starts the timer of a stored transfer. Does nothing when it has an outcome or has no planned one. */
  transferExecuted({ id, settles, status }: Transfer): void {
    if (settles !== null && status === 'pending') this.#start(id, settles.at)
  }

  /** Announces a stored refund and starts its timer. */
  refundRequested(refund: Refund, { email }: Charge): void {
    this.webhooks.send('refund.pending', refundEvent(refund, email), refund.reference)
    this.#startRefund(refund)
  }

  /** Gives a refund an outcome. Does nothing when it has this outcome. */
  setRefundOutcome(refund: Refund, outcome: RefundOutcome): void {
    if (refund.status === outcome) return
    this.#stop(refund.id)
    const changed = this.refunds.write({ ...refund, status: outcome })
    const [charge] = this.charges.listByReference(refund.reference)
    this.webhooks.send(`refund.${outcome}`, refundEvent(changed, charge?.email), refund.reference)
  }

  /** Gives a transfer an outcome, also when it already has another one. Does nothing when it has this outcome. */
  setOutcome(transfer: Transfer, outcome: Outcome, reason?: string): void {
    if (transfer.status === outcome) return
    this.#stop(transfer.id)
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
        status: transactionStatus(this, charge, charge.payments.at(-1)),
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
      disputes: this.disputes.all(),
      balance: readBook(this),
    }
  }

  reset(): void {
    this.#stopAll()
    this.faults.reset()
    this.disputeFiles.clear()
    for (const part of [...this.#stores(), this.calls, this.sendings, this.lookups]) part.reset()
  }

  close(): void {
    this.#stopAll()
    for (const store of this.#stores()) store.close()
  }

  #stores() {
    return [this.charges, this.recipients, this.transfers, this.refunds, this.disputes, this.topUps]
  }

  #startRefund({ id, settlesAt, status }: Refund): void {
    if (settlesAt !== null && status === 'pending') this.#start(id, settlesAt)
  }

  #startDispute({ id, dueAt, status }: Dispute): void {
    if (status === 'awaiting-merchant-feedback') this.#start(id, dueAt)
  }

  #endDispute(dispute: Dispute, resolution: Resolution, takenKobo: number): Dispute {
    this.#stop(dispute.id)
    const resolvedAt = new Date().toISOString()
    const ended = this.disputes.write({
      ...dispute,
      status: 'resolved',
      resolution,
      takenKobo,
      resolvedAt,
      updatedAt: resolvedAt,
    })
    this.#sendDispute('resolve', ended)
    return ended
  }

  #sendDispute(event: 'create' | 'resolve', dispute: Dispute): void {
    const data = disputeEvent(this, dispute)
    this.webhooks.send(`charge.dispute.${event}`, data, dispute.reference)
  }

  #applyPlannedOutcome(id: number): void {
    const transfer = this.transfers.get(id)
    if (transfer?.status === 'pending' && transfer.settles !== null)
      this.setOutcome(transfer, transfer.settles.outcome)
    const refund = this.refunds.get(id)
    if (refund?.status === 'pending') this.setRefundOutcome(refund, 'processed')
    const dispute = this.disputes.get(id)
    if (dispute?.status === 'awaiting-merchant-feedback')
      this.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
  }

  /** Starts the timer of a record. `at`: ISO 8601; a past time is now. */
  #start(id: number, at: string): void {
    const act = () => {
      this.#timers.delete(id)
      this.#applyPlannedOutcome(id)
    }
    this.#timers.set(id, setTimeout(act, Math.max(0, Date.parse(at) - Date.now())))
  }

  #stop(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  #stopAll(): void {
    this.webhooks.stop()
    for (const id of this.#timers.keys()) this.#stop(id)
  }
}
