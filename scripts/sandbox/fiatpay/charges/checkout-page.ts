import { escapeHtml } from '../../../../src/http/pages/html.js'
import type { Charge } from '../records.js'
import { chargeStatus } from './transaction-json.js'

const koboPerNaira = 100
const naira = new Intl.NumberFormat('en-NG', { style: 'currency', currency: 'NGN' })

const statusTexts = {
  success: 'Paid. You can close this page.',
  failed: 'The payment failed. You can try again.',
  ongoing: 'Waiting for the bank transfer.',
  abandoned: 'Nothing has been paid yet.',
} as const

/** The checkout page: the amount and buttons that pay it, pay another amount, or fail. */
export function checkoutPage(charge: Charge): string {
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
