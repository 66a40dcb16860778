import test from 'ava'
import type { FiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import { createCaller, newReference, startFiatFor } from './client.js'

const payer = { email: 'supporter@example.com', amount: 760_000 }

async function openPage(
  fiat: FiatSandbox,
  changes: object = {},
): Promise<{ reference: string; page: string }> {
  const reference = newReference()
  const { body } = await createCaller(fiat).post<{ authorization_url: string }>('/transaction/initialize', {
    ...payer,
    reference,
    ...changes,
  })
  return { reference, page: body.data.authorization_url }
}

/** Sends what a browser sends when a button of the page's form is clicked. */
async function press(page: string, button: string): Promise<Response> {
  const html = await (await fetch(page)).text()
  const [, name = '', value = ''] =
    new RegExp(`<button name="(\\w+)" value="(\\w+)">${button}</button>`).exec(html) ?? []
  return fetch(page, { method: 'POST', body: new URLSearchParams({ [name]: value }), redirect: 'manual' })
}

test('the page shows the amount and pays it when the button is clicked', async (t) => {
  const fiat = await startFiatFor(t)
  const { reference, page } = await openPage(fiat)
  t.is(page, `${fiat.url}/fiatpay/checkout/${reference}`)
  const before = await fetch(page)
  t.is(before.headers.get('content-type'), 'text/html; charset=utf-8')
  const html = await before.text()
  t.regex(html, /<h1>Pay ₦7,600\.00<\/h1>/)
  t.regex(html, /Nothing has been paid yet/)

  const pressed = await press(page, 'Pay')
  t.is(pressed.status, 303)
  t.is(new URL(pressed.headers.get('location') ?? '', page).href, page)
  const after = await (await fetch(page)).text()
  t.regex(after, /Paid\. You can close this page/)
  t.notRegex(after, /<button/)
  t.deepEqual(fiat.fiatpay.log().charges, [
    { reference, amountKobo: 760_000, paidKobo: 760_000, status: 'success' },
  ])
})

test('a payment can fail and be repeated', async (t) => {
  const fiat = await startFiatFor(t)
  const { page } = await openPage(fiat)
  t.regex(await (await press(page, 'Fail')).text(), /The payment failed\. You can try again/)
  t.is(fiat.fiatpay.log().charges[0]?.status, 'failed')
  await press(page, 'Pay')
  t.is(fiat.fiatpay.log().charges[0]?.paidKobo, 760_000)
  // The form in an old copy of the page does not pay again.
  const again = await fetch(page, { method: 'POST', body: 'outcome=paid', redirect: 'manual' })
  t.is(again.status, 303)
  t.is(fiat.fiatpay.log().charges[0]?.paidKobo, 760_000)
})

test('after paying, the payer is redirected to the callback URL', async (t) => {
  const fiat = await startFiatFor(t)
  const { reference, page } = await openPage(fiat, { callback_url: 'https://tips.example/paid?a=1' })
  const { headers } = await press(page, 'Pay')
  t.is(headers.get('location'), `https://tips.example/paid?a=1&trxref=${reference}&reference=${reference}`)
})
