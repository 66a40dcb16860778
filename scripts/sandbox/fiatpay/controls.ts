import { z } from 'zod'
import { json, lastSegment, RequestError, type Route, readControl } from '../http-route.js'
import { faultSchema, modeSchema } from './faults.js'
import type { Fiatpay } from './fiatpay.js'
import { outcomes, refundOutcomes } from './records.js'

const paidKoboMax = 100_000_000_000
const reasonMax = 500

const chargeControl = z.strictObject({
  outcome: z.enum(['paid', 'failed']),
  amountKobo: z.int().positive().max(paidKoboMax).optional(),
})
const transferControl = z.strictObject({
  outcome: z.enum(outcomes),
  reason: z.string().min(1).max(reasonMax).optional(),
})

const refundControl = z.strictObject({ outcome: z.enum(refundOutcomes) })

/** The controls, by method and path. The last segment is the provider's reference or the service's own id. */
export function fiatpayControls(fiatpay: Fiatpay): Record<string, Route> {
  return {
    'POST /dev/fiatpay/charges/*': (request) => {
      const { outcome, amountKobo } = readControl(chargeControl, request)
      const charge = fiatpay.charges.find(lastSegment(request))
      if (charge === undefined) throw new RequestError(404, 'no charge with this reference')
      if (outcome === 'paid') fiatpay.pay(charge, amountKobo ?? charge.amountKobo)
      else if (charge.payments.length > 0) throw new RequestError(409, 'the charge is paid already')
      else fiatpay.failCharge(charge)
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
    'GET /dev/fiatpay/calls': () =>
      json(200, {
        calls: fiatpay.calls.all(),
        sendings: fiatpay.sendings.all(),
        lookups: fiatpay.lookups.all(),
      }),
    'GET /dev/fiatpay/webhooks': () => json(200, fiatpay.webhooks.deliveries()),
  }
}
