import { escapeHtml } from '../../../src/http/pages/html.js'
import { testNotice } from '../../../src/kernel/brand.js'
import { RequestError, type Route, type SandboxAnswer, type SandboxRequest } from '../http-server.js'
import { down } from './api.js'
import type { Fiatpay } from './fiatpay.js'
import type { Charge } from './records.js'
import { chargeStatus } from './wire.js'

const koboPerNaira = 100
const naira = new Intl.NumberFormat('en-NG', { style: 'currency', currency: 'NGN' })

const statusTexts = {
  success: 'Paid. You can close this page.',
  failed: 'The payment failed. You can try again.',
  ongoing: 'Waiting for the bank transfer.',
  abandoned: 'Nothing has been paid yet.',
} as const

const form = `<form method="post">
<p><button name="outcome" value="paid">Pay</button><button name="outcome" value="failed">Fail</button></p>
</form>`

export function showCheckout(fiatpay: Fiatpay): Route {
  return (request) => (fiatpay.faults.mode.charges === 'ok' ? pageOf(findCharge(fiatpay, request)) : down)
}

/**
 * `POST /fiatpay/checkout/:reference`: submits the page's form. After paying, the payer is redirected to the callback URL
 * if there is one. A paid charge is not paid again.
 */
export function submitCheckout(fiatpay: Fiatpay): Route {
  return (request) => {
    if (fiatpay.faults.mode.charges !== 'ok') return down
    const charge = findCharge(fiatpay, request)
    const outcome = new URLSearchParams(request.body.toString('utf8')).get('outcome')
    if (outcome !== 'paid' && outcome !== 'failed') throw new RequestError(400, 'outcome: paid or failed')
    const isPaid = chargeStatus(charge) === 'success'
    if (outcome === 'failed' && !isPaid) return pageOf(fiatpay.failCharge(charge))
    if (!isPaid) fiatpay.pay(charge, charge.amountKobo)
    return { status: 303, type: 'text/plain', body: '', headers: { location: nextPage(charge) } }
  }
}

function findCharge({ charges }: Fiatpay, { param }: SandboxRequest): Charge {
  const [charge] = charges.listByReference(param)
  if (charge === undefined) throw new RequestError(404, 'no such payment')
  return charge
}

/** The callback URL with the reference as the provider adds it, else this page. */
function nextPage({ callbackUrl, reference }: Charge): string {
  if (callbackUrl === null) return encodeURIComponent(reference)
  const url = new URL(callbackUrl)
  url.searchParams.set('trxref', reference)
  url.searchParams.set('reference', reference)
  return url.href
}

/** The checkout page: the amount, where to transfer it, and buttons that pay it or fail. */
function pageOf(charge: Charge): SandboxAnswer {
  const { account } = charge
  const status = chargeStatus(charge)
  const amount = escapeHtml(naira.format(charge.amountKobo / koboPerNaira))
  const body = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Pay ${amount} (test)</title>
<style>body{font:16px/1.5 sans-serif;max-width:26em;margin:2em auto}button{font:inherit;padding:.5em 1.5em}</style>
</head><body>
<p>${testNotice}</p>
<h1>Pay ${amount}</h1>
<p>${escapeHtml(charge.email)}<br>Reference <code>${escapeHtml(charge.reference)}</code></p>
${account === null ? '' : `<p>By transfer to account <code>${escapeHtml(account.number)}</code>, Test Bank</p>`}
<p role="status">${statusTexts[status]}</p>
${status === 'success' ? '' : form}
</body></html>
`
  return { status: 200, type: 'text/html; charset=utf-8', body }
}
