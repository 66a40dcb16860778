import {
  lastSegment,
  RequestError,
  type Route,
  type SandboxAnswer,
  type SandboxRequest,
} from '../../http-route.js'
import { down } from '../endpoint.js'
import type { FiatpayFaults } from '../faults.js'
import type { RecordStore } from '../record-store.js'
import type { Charge } from '../records.js'
import { checkoutPage } from './checkout-page.js'
import { chargeStatus } from './transaction-json.js'

const formBytesMax = 4096
const koboPerNaira = 100

/** What the checkout page needs. */
export interface CheckoutContext {
  readonly charges: RecordStore<Charge>
  readonly faults: FiatpayFaults
  pay(charge: Charge, amountKobo: number): Charge
  failCharge(charge: Charge): Charge
}

/** `GET /fiatpay/checkout/:reference`: the checkout page. */
export function showCheckout({ charges, faults }: CheckoutContext): Route {
  return (request) => (faults.chargeMode === 'ok' ? pageOf(findCharge(charges, request)) : down)
}

/**
 * `POST /fiatpay/checkout/:reference`: submits the page's form. After paying, the payer is redirected to the callback URL
 * if there is one. A paid charge is not paid again.
 */
export function submitCheckout(context: CheckoutContext): Route {
  return (request) => {
    if (context.faults.chargeMode !== 'ok') return down
    const charge = findCharge(context.charges, request)
    const form = readForm(request)
    const outcome = form.get('outcome')
    if (outcome !== 'paid' && outcome !== 'failed') throw new RequestError(400, 'outcome: paid or failed')
    if (outcome === 'failed' && chargeStatus(charge) !== 'success') return pageOf(context.failCharge(charge))
    if (chargeStatus(charge) !== 'success') context.pay(charge, koboOf(form.get('naira'), charge))
    return { status: 303, type: 'text/plain', body: '', headers: { location: nextPage(charge) } }
  }
}

function findCharge(charges: RecordStore<Charge>, request: SandboxRequest): Charge {
  const [charge] = charges.listByReference(lastSegment(request))
  if (charge === undefined) throw new RequestError(404, 'no such payment')
  return charge
}

function pageOf(charge: Charge): SandboxAnswer {
  return { status: 200, type: 'text/html; charset=utf-8', body: checkoutPage(charge) }
}

function readForm({ body }: SandboxRequest): URLSearchParams {
  if (body.length > formBytesMax) throw new RequestError(413, `form larger than ${formBytesMax} bytes`)
  return new URLSearchParams(body.toString('utf8'))
}

/** Parses an amount in naira to kobo. Without a text: the charge's amount. */
function koboOf(text: string | null, { amountKobo }: Charge): number {
  if (text === null) return amountKobo
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(text)) throw new RequestError(400, 'naira: an amount such as 1600.00')
  const kobo = Math.round(Number(text) * koboPerNaira)
  if (kobo === 0) throw new RequestError(400, 'naira: more than nothing')
  return kobo
}

/** The callback URL with the reference as the provider adds it, else this page. */
function nextPage({ callbackUrl, reference }: Charge): string {
  if (callbackUrl === null) return encodeURIComponent(reference)
  const url = new URL(callbackUrl)
  url.searchParams.set('trxref', reference)
  url.searchParams.set('reference', reference)
  return url.href
}
