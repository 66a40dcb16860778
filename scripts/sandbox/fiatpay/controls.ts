import { z } from 'zod'
import { control, json, lastSegment, RequestError, type Route } from '../http-route.js'
import { faultSchema, modeSchema } from './faults.js'
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
const transferControl = z.strictObject({
  outcome: z.enum(outcomes),
  reason: z.string().min(1).max(reasonMax).optional(),
})

const disputeControl = z.strictObject({ outcome: z.enum(['won', 'lost', 'remind']) })
const balanceControl = z.strictObject({ balanceKobo: z.int().min(-balanceKoboMax).max(balanceKoboMax) })
const refundControl = z.strictObject({ outcome: z.enum(refundOutcomes) })

/** A control of the newest record with the provider's reference or the service's own id, which the path ends with. */
function recordControl<
  Schema extends z.ZodType,
  Record extends { readonly id: number; readonly reference: string },
>(
  store: RecordStore<Record>,
  missing: string,
  schema: Schema,
  act: (record: Record, given: z.output<Schema>) => void,
): Route {
  return control(schema, (given, request) => {
    const record = store.find(lastSegment(request))
    if (record === undefined) throw new RequestError(404, missing)
    act(record, given)
  })
}

/** The controls, by method and path. */
export function fiatpayControls(fiatpay: Fiatpay): Record<string, Route> {
  const { charges, disputes, transfers, refunds, faults } = fiatpay
  return {
    'POST /dev/fiatpay/charges/*': recordControl(
      charges,
      'no charge with this reference',
      chargeControl,
      (charge, { outcome, amountKobo }) => {
        if (outcome === 'paid') fiatpay.pay(charge, amountKobo ?? charge.amountKobo)
        else if (outcome === 'failed') failUnpaid(fiatpay, charge)
        else takeBack(fiatpay, charge, outcome, amountKobo)
      },
    ),
    'POST /dev/fiatpay/disputes/*': recordControl(
      disputes,
      'no dispute about a charge with this reference',
      disputeControl,
      (dispute, { outcome }) => {
        if (dispute.status === 'resolved')
          throw new RequestError(409, `the dispute is resolved already: ${dispute.resolution}`)
        if (outcome === 'won') fiatpay.winDispute(dispute)
        else if (outcome === 'lost') fiatpay.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
        else fiatpay.remindOfDispute(dispute)
      },
    ),
    'POST /dev/fiatpay/transfers/*': recordControl(
      transfers,
      'no transfer with this reference',
      transferControl,
      (transfer, { outcome, reason }) => fiatpay.setOutcome(transfer, outcome, reason),
    ),
    'POST /dev/fiatpay/refunds/*': recordControl(
      refunds,
      'no refund of a charge with this reference',
      refundControl,
      (refund, { outcome }) => fiatpay.setRefundOutcome(refund, outcome),
    ),
    // The business tops up or takes out money, so that this is the balance.
    'POST /dev/fiatpay/balance': control(balanceControl, ({ balanceKobo }) => {
      const id = fiatpay.ids.next()
      const amountKobo = balanceKobo - fiatpay.balanceKobo
      fiatpay.topUps.write({ id, reference: String(id), amountKobo })
    }),
    'POST /dev/fiatpay/mode': control(modeSchema, (mode) => faults.setMode(mode)),
    'POST /dev/fiatpay/faults': control(faultSchema, (fault) => faults.setFault(fault)),
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
