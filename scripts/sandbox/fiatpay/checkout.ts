import { escapeHtml } from '../../../src/http/pages/html.js'
import {
  lastSegment,
  RequestError,
  type Route,
  type SandboxAnswer,
  type SandboxRequest,
} from '../http-route.js'
import { down } from './endpoint.js'
import type { Fiatpay } from './fiatpay.js'
import type { Charge } from './records.js'
import { chargeStatus } from './wire.js'

const formBytesMax = 4096
const koboPerNaira = 100
const naira = new Intl.NumberFormat('en-NG', { style: 'currency', currency: 'NGN' })

const statusTexts = {
  success: 'Paid. You can close this page.',
  failed: 'The payment failed. You can try again.',
  ongoing: 'Waiting for the bank transfer.',
  abandoned: 'Nothing has been paid yet.',
} as const

/** `GET /fiatpay/checkout/:reference`: the checkout page. */
export function showCheckout(fiatpay: Fiatpay): Route {
  return (request) => (fiatpay.faults.chargeMode === 'ok' ? pageOf(findCharge(fiatpay, request)) : down)
}

/**
 * `POST /fiatpay/checkout/:reference`: submits the page's form. After paying, the payer is redirected to the callback URL
 * if there is one. A paid charge is not paid again.
 */
export function submitCheckout(fiatpay: Fiatpay): Route {
  return (request) => {
    if (fiatpay.faults.chargeMode !== 'ok') return down
    const charge = findCharge(fiatpay, request)
    const form = readForm(request)
    const outcome = form.get('outcome')
    if (outcome !== 'paid' && outcome !== 'failed') throw new RequestError(400, 'outcome: paid or failed')
    if (outcome === 'failed' && chargeStatus(charge) !== 'success') return pageOf(fiatpay.failCharge(charge))
    if (chargeStatus(charge) !== 'success') fiatpay.pay(charge, koboOf(form.get('naira'), charge))
    return { status: 303, type: 'text/plain', body: '', headers: { location: nextPage(charge) } }
  }
}

function findCharge({ charges }: Fiatpay, request: SandboxRequest): Charge {
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

/** The checkout page: the amount and buttons that pay it, pay another amount, or fail. */
function checkoutPage(charge: Charge): string {
  const status = chargeStatus(charge)
  const amount = escapeHtml(naira.format(charge.amountKobo / koboPerNaira))
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Pay ${amount} (sandbox)</title>
<style>body{font:16px/1.5 sans-serif;max-width:26em;margin:2em auto;padding:0 1em}
button{font:inherit;padding:.5em 1.5em;margin-right:.5em}input{font:inherit;width:9em}code{overflow-wrap:anywhere}</style>
</head><body>
<p>Sandbox: no real money moves here.</p>
<h1>Pay ${amount}</h1>
<p>${escapeHtml(charge.email)}<br>Reference <code>${escapeHtml(charge.reference)}</code></p>
${account(charge)}<p role="status">${statusTexts[status]}</p>
${received(charge)}${status === 'success' ? '' : form(charge)}
</body></html>
`
}

function account({ account }: Charge): string {
  if (account === null) return ''
  return `<p>By transfer to account <code>${escapeHtml(account.number)}</code>, Test Bank, until ${escapeHtml(account.expiresAt)}</p>\n`
}

function received({ payments }: Charge): string {
  const rows = payments.map(
    ({ id, amountKobo, paidAt }) =>
      `<li>${escapeHtml(naira.format(amountKobo / koboPerNaira))} at ${escapeHtml(paidAt)}, transaction ${id}</li>`,
  )
  return rows.length === 0 ? '' : `<ul>${rows.join('')}</ul>`
}

function form({ amountKobo }: Charge): string {
  return `<form method="post">
<p><label>Amount in naira <input name="naira" type="number" min="0.01" step="0.01" required
value="${(amountKobo / koboPerNaira).toFixed(2)}"></label></p>
<p><button name="outcome" value="paid">Pay</button><button name="outcome" value="failed">Fail</button></p>
</form>`
}
