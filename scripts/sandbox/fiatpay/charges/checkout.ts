import {
  lastSegment,
  RequestError,
  type Route,
  type SandboxAnswer,
  type SandboxRequest,
} from '../../exchange.js'
import type { Behaviour } from '../behaviour.js'
import type { Book } from '../book.js'
import { down } from '../endpoint.js'
import type { Charge } from '../records.js'
import { checkoutPage } from './checkout-page.js'
import { chargeStatus } from './transaction-json.js'

const formBytesMax = 4096
const koboPerNaira = 100

/** What the page needs to show a charge and do what its buttons say. */
export interface Cashier {
  readonly charges: Book<Charge>
  readonly behaviour: Behaviour
  pay(charge: Charge, amountKobo: number): Charge
  failCharge(charge: Charge): Charge
}

/** `GET /fiatpay/checkout/:reference`: the page to pay on. */
export function showCheckout({ charges, behaviour }: Cashier): Route {
  return (request) => (behaviour.charges === 'ok' ? pageOf(asked(charges, request)) : down)
}

/**
 * `POST /fiatpay/checkout/:reference`: one of the page's buttons. A payer who came from elsewhere goes back there after
 * paying; nobody pays twice here.
 */
export function pressButton(cashier: Cashier): Route {
  return (request) => {
    if (cashier.behaviour.charges !== 'ok') return down
    const charge = asked(cashier.charges, request)
    const form = readForm(request)
    const outcome = form.get('outcome')
    if (outcome !== 'paid' && outcome !== 'failed') throw new RequestError(400, 'outcome: paid or failed')
    if (outcome === 'failed' && chargeStatus(charge) !== 'success') return pageOf(cashier.failCharge(charge))
    if (chargeStatus(charge) !== 'success') cashier.pay(charge, koboOf(form.get('naira'), charge))
    return { status: 303, type: 'text/plain', body: '', headers: { location: nextPage(charge) } }
  }
}

function asked(charges: Book<Charge>, request: SandboxRequest): Charge {
  const [charge] = charges.under(lastSegment(request))
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

/** Whole kobo of a text of naira; no text: what the charge asks for. */
function koboOf(text: string | null, { amountKobo }: Charge): number {
  if (text === null) return amountKobo
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(text)) throw new RequestError(400, 'naira: an amount such as 1600.00')
  const kobo = Math.round(Number(text) * koboPerNaira)
  if (kobo === 0) throw new RequestError(400, 'naira: more than nothing')
  return kobo
}

/** The caller's own page with the reference, as the provider adds it, or this page again. */
function nextPage({ callbackUrl, reference }: Charge): string {
  if (callbackUrl === null) return encodeURIComponent(reference)
  const url = new URL(callbackUrl)
  url.searchParams.set('trxref', reference)
  url.searchParams.set('reference', reference)
  return url.href
}
