import { z } from 'zod'
import { control, json, RequestError, type Routes } from '../http-server.js'
import { modeSchema } from './faults.js'
import type { Fiatpay } from './fiatpay.js'
import type { RecordStore } from './record-store.js'
import { type Charge, outcomes, refundOutcomes } from './records.js'
import { leftOf } from './wire.js'

const paidKoboMax = 100_000_000_000
const reasonMax = 500
const balanceKoboMax = 1_000_000_000_000

const chargeControl = z.strictObject({
  outcome: z.enum(['paid', 'failed', 'disputed', 'reversed']),
  amountKobo: z.int().positive().max(paidKoboMax).optional(),
})
const disputeControl = z.strictObject({ outcome: z.enum(['won', 'lost']) })
const transferControl = z.strictObject({
  outcome: z.enum(outcomes),
  reason: z.string().min(1).max(reasonMax).optional(),
})
const refundControl = z.strictObject({ outcome: z.enum(refundOutcomes) })
const balanceControl = z.strictObject({ balanceKobo: z.int().min(-balanceKoboMax).max(balanceKoboMax) })

/** The controls, by method and path. Of the records with the provider's reference or the service's own id the newest is meant. */
export function fiatpayControls(fiatpay: Fiatpay): Routes {
  const { charges, disputes, transfers, refunds, faults } = fiatpay
  return {
    'POST /dev/fiatpay/charges/*': control(chargeControl, ({ outcome, amountKobo }, { param }) => {
      const charge = found(charges, param, 'charge')
      if (outcome === 'paid') fiatpay.pay(charge, amountKobo ?? charge.amountKobo)
      else if (outcome !== 'failed') takeBack(fiatpay, charge, outcome, amountKobo)
      else if (charge.payments.length === 0) fiatpay.failCharge(charge)
      else throw new RequestError(409, 'the charge is paid already')
    }),
    'POST /dev/fiatpay/disputes/*': control(disputeControl, ({ outcome }, { param }) => {
      const dispute = found(disputes, param, 'dispute about a charge')
      const isWon = dispute.resolution === 'declined'
      if (dispute.status === 'resolved' && isWon === (outcome === 'won')) return
      if (dispute.status === 'resolved')
        throw new RequestError(409, `the dispute is resolved already: ${dispute.resolution}`)
      if (outcome === 'won') fiatpay.winDispute(dispute)
      else fiatpay.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
    }),
    'POST /dev/fiatpay/transfers/*': control(transferControl, ({ outcome, reason }, { param }) =>
      fiatpay.setOutcome(found(transfers, param, 'transfer'), outcome, reason),
    ),
    'POST /dev/fiatpay/refunds/*': control(refundControl, ({ outcome }, { param }) =>
      fiatpay.setRefundOutcome(found(refunds, param, 'refund of a charge'), outcome),
    ),
    // The business tops up or takes out money, so that this is the balance.
    'POST /dev/fiatpay/balance': control(balanceControl, ({ balanceKobo }) => {
      const id = fiatpay.ids.next()
      const amountKobo = balanceKobo - fiatpay.balanceKobo
      fiatpay.topUps.write({ id, reference: String(id), amountKobo })
    }),
    'POST /dev/fiatpay/mode': control(modeSchema, (mode) => faults.setMode(mode)),
    'GET /dev/fiatpay/log': () => json(200, fiatpay.log()),
  }
}

function found<Row extends { readonly id: number; readonly reference: string }>(
  store: RecordStore<Row>,
  id: string,
  what: string,
): Row {
  const record = store.find(id)
  if (record === undefined) throw new RequestError(404, `no ${what} with this reference`)
  return record
}

/** The payer, or their bank, wants the newest payment back: with a dispute, or without asking anybody. */
function takeBack(
  fiatpay: Fiatpay,
  charge: Charge,
  outcome: 'disputed' | 'reversed',
  amountKobo: number | undefined,
): void {
  const payment = charge.payments.at(-1)
  if (payment === undefined) throw new RequestError(409, 'the charge is not paid: pay it first')
  const isDisputed = fiatpay.disputes
    .listByReference(charge.reference)
    .some(({ status }) => status !== 'resolved')
  // An outcome may be repeated.
  if (outcome === 'disputed' ? isDisputed : payment.reversedKobo !== undefined) return
  if (isDisputed)
    throw new RequestError(409, 'the charge has an open dispute: end it at /dev/fiatpay/disputes')
  const left = leftOf(fiatpay, charge, payment, 'taken')
  if (left <= 0)
    throw new RequestError(409, 'nothing is left of the payment: it was refunded, reversed or lost')
  if (outcome === 'reversed') {
    if (amountKobo !== undefined) throw new RequestError(400, 'amountKobo: only for paid and disputed')
    fiatpay.reverse(charge, payment, left)
  } else if (amountKobo !== undefined && amountKobo > left)
    throw new RequestError(409, `only ${left} kobo are left of the payment`)
  else fiatpay.openDispute(charge, payment, amountKobo ?? left)
}
