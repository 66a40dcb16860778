import { z } from 'zod'
import { json, lastSegment, RequestError, type Route, readControl } from '../http-route.js'
import { faultSchema, modeSchema } from './faults.js'
import type { Fiatpay } from './fiatpay.js'
import { type Charge, outcomes, refundOutcomes } from './records.js'
import { leftOf } from './wire.js'

const paidKoboMax = 100_000_000_000
const reasonMax = 500
const balanceKoboMax = 1_000_000_000_000

const chargeControl = z.strictObject({
  outcome: z.enum(['paid', 'failed', 'disputed', 'reversed']),
  amountKobo: z.int().positive().max(paidKoboMax).optional(),
})
const transferControl = z.strictObject({
  outcome: z.enum(outcomes),
  reason: z.string().min(1).max(reasonMax).optional(),
})

const disputeControl = z.strictObject({ outcome: z.enum(['won', 'lost', 'remind']) })
const balanceControl = z.strictObject({ balanceKobo: z.int().min(-balanceKoboMax).max(balanceKoboMax) })
const refundControl = z.strictObject({ outcome: z.enum(refundOutcomes) })

/** The controls, by method and path. The last segment is the provider's reference or the service's own id. */
export function fiatpayControls(fiatpay: Fiatpay): Record<string, Route> {
  return {
    'POST /dev/fiatpay/charges/*': (request) => {
      const { outcome, amountKobo } = readControl(chargeControl, request)
      const charge = fiatpay.charges.find(lastSegment(request))
      if (charge === undefined) throw new RequestError(404, 'no charge with this reference')
      if (outcome === 'paid') fiatpay.pay(charge, amountKobo ?? charge.amountKobo)
      else if (outcome === 'failed') failUnpaid(fiatpay, charge)
      else takeBack(fiatpay, charge, outcome, amountKobo)
      return json(200, { success: true })
    },
    'POST /dev/fiatpay/disputes/*': (request) => {
      const { outcome } = readControl(disputeControl, request)
      const dispute = fiatpay.disputes.find(lastSegment(request))
      if (dispute === undefined) throw new RequestError(404, 'no dispute about a charge with this reference')
      if (dispute.status === 'resolved')
        throw new RequestError(409, `the dispute is resolved already: ${dispute.resolution}`)
      if (outcome === 'won') fiatpay.winDispute(dispute)
      else if (outcome === 'lost') fiatpay.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
      else fiatpay.remindOfDispute(dispute)
      return json(200, { success: true })
    },
    // The business tops up or takes out money, so that this is the balance.
    'POST /dev/fiatpay/balance': (request) => {
      const amountKobo = readControl(balanceControl, request).balanceKobo - fiatpay.balanceKobo
      const id = fiatpay.ids.next()
      fiatpay.topUps.write({ id, reference: String(id), amountKobo })
      return json(200, { success: true })
    },
    'POST /dev/fiatpay/transfers/*': (request) => {
      const { outcome, reason } = readControl(transferControl, request)
      const transfer = fiatpay.transfers.find(lastSegment(request))
      if (transfer === undefined) throw new RequestError(404, 'no transfer with this reference')
      fiatpay.setOutcome(transfer, outcome, reason)
      return json(200, { success: true })
    },
    'POST /dev/fiatpay/refunds/*': (request) => {
      const { outcome } = readControl(refundControl, request)
      const refund = fiatpay.refunds.find(lastSegment(request))
      if (refund === undefined) throw new RequestError(404, 'no refund of a charge with this reference')
      fiatpay.setRefundOutcome(refund, outcome)
      return json(200, { success: true })
    },
    'POST /dev/fiatpay/mode': (request) => {
      fiatpay.faults.setMode(readControl(modeSchema, request))
      return json(200, { success: true })
    },
    'POST /dev/fiatpay/faults': (request) => {
      fiatpay.faults.setFault(readControl(faultSchema, request))
      return json(200, { success: true })
    },
    'GET /dev/fiatpay/log': () => json(200, fiatpay.log()),
  }
}

function failUnpaid(fiatpay: Fiatpay, charge: Charge): void {
  if (charge.payments.length > 0) throw new RequestError(409, 'the charge is paid already')
  fiatpay.failCharge(charge)
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
  if (fiatpay.disputes.listByReference(charge.reference).some(({ status }) => status !== 'resolved'))
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
