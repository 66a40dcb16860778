import test from 'ava'
import type { Page } from 'playwright-core'
import { prepareVisit, useBrowser, type Visit, type VisitOptions } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import {
  assertScreen,
  chooseRadio,
  clickButton,
  heading,
  waitForAnnouncement,
} from '../helpers/browser/on-page.js'
import {
  expireFiatIntent,
  failCharge,
  payFiatIntent,
  referenceOf,
  settleIntentNow,
} from '../helpers/make/fiat/fiat-tips.js'
import { publicUrl } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)
/** Every state of the naira tab. The tests are serial: each has the browser and the provider to itself. */

const transfer = { settings: { fiatCollection: 'bank_transfer' } } as const

/** Opens the naira tab of a checkout. */
async function toNaira(options: VisitOptions = transfer): Promise<Visit> {
  const one = await prepareVisit(open(), options)
  await one.page.clock.install()
  await one.page.goto(one.embedUrl)
  await one.page.getByRole('tab', { name: /^Naira/ }).click()
  return one
}

/** Starts a naira tip that waits for its payment, and returns its id. */
async function toWaiting(
  options: VisitOptions = transfer,
  email = '',
): Promise<Visit & { intentId: string }> {
  const one = await toNaira(options)
  if (email !== '') await one.page.getByRole('textbox', { name: /^E-mail/ }).fill(email)
  const answered = one.page.waitForResponse('**/payments/fiat/intent')
  await clickButton(one.page, 'Pay ₦7,600.00')
  const { intentId } = await (await answered).json()
  await heading(one.page, /^(Send exactly|Finish paying)/).waitFor()
  return { ...one, intentId }
}

/** Does what happens when the supporter comes back to the tab. */
const returnToTab = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

test.serial('J0 the rate is unavailable, then available again', async (t) => {
  open().world.fiat.rates.set({ NGN: null })
  const one = await toNaira()
  await one.page.getByText('Naira payments are unavailable right now.').waitFor()
  await checkAccessibility(t, one.page, 'J0-rate-away')
  open().world.fiat.rates.set({ NGN: 1600 })
  // The page asks again by itself.
  const button = one.page.getByRole('button', { name: 'Pay ₦7,600.00' })
  await t.notThrowsAsync(
    until('the price is shown', async () => {
      await one.page.clock.fastForward(11_000)
      return button.isVisible()
    }),
  )
  await one.context.close()
})

test.serial('J1 the naira form, also anonymous', async (t) => {
  const one = await toNaira()
  await one.page.getByText('You pay ₦7,600.00 · fee 5 % · Ada Lovelace gets $4.75').waitFor()
  await checkAccessibility(t, one.page, 'J1-naira')
  const name = one.page.getByRole('textbox', { name: /^Your name/ })
  await name.fill('Tobi')
  await one.page.getByRole('checkbox', { name: /^Tip anonymously/ }).check()
  await one.page.getByText('Ada Lovelace sees no name and no e-mail.').waitFor()
  t.is(await name.inputValue(), '')
  t.true(await name.isDisabled())
  await checkAccessibility(t, one.page, 'J1-anonymous')
  await one.context.close()
})

test.serial('J2 the payment instructions stay after a reload', async (t) => {
  const one = await toWaiting()
  await waitForAnnouncement(one.page, /^Instructions ready\. Account number (\d ){9}\d$/)
  const said = (await one.page.getByRole('status').first().textContent()) ?? ''
  await one.page.reload()
  await heading(one.page, 'Send exactly ₦7,600.00').waitFor()
  await one.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await clickButton(one.page, 'Copy account number')
  await one.page.getByText('Copied').first().waitFor()
  t.is(await one.page.evaluate('navigator.clipboard.readText()'), said.replaceAll(/\D/g, ''))
  await checkAccessibility(t, one.page, 'J2-instructions')
  t.deepEqual(one.faults, [])
  await one.context.close()
})

const card = { settings: { fiatCollection: 'checkout' } } as const
/** Stops the clock of the page, which closes an empty tab after three seconds. */
const stopClock = (page: Page) => page.clock.pauseAt(Date.now() + 60_000)

test.serial('J3 the press on Pay opens the provider’s page in another tab', async (t) => {
  const page = await toNaira(card)
  // A clock that jumps gives up requests that have no answer yet.
  await page.page.getByRole('button', { name: 'Pay ₦7,600.00' }).waitFor()
  await stopClock(page.page)
  const answered = page.page.waitForResponse('**/payments/fiat/intent')
  const opened = page.context.waitForEvent('page')
  await clickButton(page.page, 'Pay ₦7,600.00')
  const one = { ...page, intentId: (await (await answered).json()).intentId as string }
  const tab = await opened
  await tab.getByRole('button', { name: 'Pay' }).waitFor()
  await page.page.clock.resume()
  t.is(await tab.evaluate('opener'), null)
  t.is(await tab.evaluate('document.referrer'), '')
  await one.page.getByText('This page updates by itself.', { exact: true }).waitFor()
  await checkAccessibility(t, one.page, 'J3-other-tab')
  // The payment can be left and returned to, also with the browser's Back.
  await clickButton(one.page, 'Pay another way')
  await one.page.getByText('A payment of ₦7,600.00 is still open.').waitFor()
  await checkAccessibility(t, one.page, 'J3-left')
  await one.page.reload()
  await clickButton(one.page, 'Return to it')
  await one.page.goBack()
  await clickButton(one.page, 'Return to it')
  await heading(one.page, 'Finish paying in the other tab.').waitFor()
  await tab.getByRole('button', { name: 'Pay' }).click()
  await tab.getByRole('heading', { name: 'You can close this tab.' }).waitFor()
  await tab.getByText('The page you came from updates by itself.').waitFor()
  const { origin, pathname, searchParams } = new URL(tab.url())
  t.is(origin + pathname, `${publicUrl}/paid`)
  t.is(searchParams.get('reference'), referenceOf(one.intentId))
  await checkAccessibility(t, tab, 'J3-return')
  await settleIntentNow(open().world, one.intentId)
  await returnToTab(one.page)
  await assertScreen(t, one, 'J3-done', 'Thank you! ₦7,600.00 received.')
})

test.serial('J3 a provider that fails or is slow is seen on the page, and no empty tab stays', async (t) => {
  const one = await toNaira(card)
  open().world.fiat.fiatpay.faults.setMode({ charges: 'down' })
  await clickButton(one.page, 'Pay ₦7,600.00')
  await heading(one.page, "The payment provider isn't answering.").waitFor()
  open().world.fiat.fiatpay.faults.reset()
  t.is(one.context.pages().length, 1)

  let answer = (): void => undefined
  const held = new Promise<void>((done) => {
    answer = done
  })
  await one.page.route('**/payments/fiat/intent', async (route) => {
    await held
    await route.continue()
  })
  const opened = one.context.waitForEvent('page')
  await clickButton(one.page, 'Try again')
  const tab = await opened
  if (!tab.isClosed()) await tab.waitForEvent('close')
  await one.page.getByText('This is slower than usual. Your money has not moved.').first().waitFor()
  await checkAccessibility(t, one.page, 'J3-slow')
  answer()
  // The browser takes only what the supporter presses: the link.
  await assertScreen(t, one, 'J3-by-link', 'Finish paying in the other tab.', ['Open the payment page'])
})

test.serial('J4 the supporter says that the transfer is sent', async (t) => {
  const one = await toWaiting()
  await clickButton(one.page, "I've sent it")
  await heading(one.page, 'Looking for your transfer.').waitFor()
  await checkAccessibility(t, one.page, 'J4-looking')
  await one.context.close()
})

test.serial('J5 the last five minutes are counted down', async (t) => {
  const one = await toWaiting()
  await one.page.getByText(/^This account works until \d\d:\d\d \((29|30) min\)$/).waitFor()
  await one.page.clock.fastForward(26 * 60_000)
  await one.page.getByText(/^[34]:\d\d left\. If you have sent it, just wait\.$/).waitFor()
  // The live region follows a moment after the visible text.
  const readOut = one.page
    .getByRole('status')
    .filter({ hasText: '5:00 left. If you have sent it, just wait.' })
  await readOut.waitFor({ state: 'attached' })
  t.is(await readOut.count(), 1)
  await checkAccessibility(t, one.page, 'J5-last-minutes')
  await one.context.close()
})

test.serial('J6 the time is over, and the money arrives later', async (t) => {
  const one = await toWaiting()
  await expireFiatIntent(open().world, one.intentId)
  await settleIntentNow(open().world, one.intentId)
  await returnToTab(one.page)
  await heading(one.page, 'The time is over.').waitFor()
  await one.page
    .getByText("Already sent? It will still be credited when it arrives; don't send it twice.")
    .waitFor()
  await checkAccessibility(t, one.page, 'J6-late')
  await clickButton(one.page, "I've sent it")
  payFiatIntent(open().world, one.intentId)
  await settleIntentNow(open().world, one.intentId)
  await returnToTab(one.page)
  await assertScreen(t, one, 'J6-late-done', 'Thank you! ₦7,600.00 received.')
})

test.serial('J7 the payment could not be completed', async (t) => {
  const one = await toWaiting()
  failCharge(open().world, one.intentId)
  await settleIntentNow(open().world, one.intentId)
  await returnToTab(one.page)
  await assertScreen(t, one, 'J7-failed', "This payment couldn't be completed.", [one.intentId])
})

test.serial('J8 the tip is paid', async (t) => {
  const one = await toWaiting(transfer, 'tobi@example.com')
  payFiatIntent(open().world, one.intentId)
  await settleIntentNow(open().world, one.intentId)
  await returnToTab(one.page)
  await heading(one.page, 'Thank you! ₦7,600.00 received.').waitFor()
  await one.page.getByText('A receipt is on its way to your e-mail.').waitFor()
  await checkAccessibility(t, one.page, 'J8-done')
  await one.page.reload()
  await clickButton(one.page, 'Tip again')
  await one.page.getByRole('tab', { name: /^Naira/, selected: true }).waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('J9 the provider does not answer', async (t) => {
  const one = await toNaira()
  open().world.fiat.fiatpay.faults.setMode({ charges: 'down' })
  await clickButton(one.page, 'Pay ₦7,600.00')
  await heading(one.page, "The payment provider isn't answering.").waitFor()
  await one.page.getByText('Nothing was paid.').first().waitFor()
  await checkAccessibility(t, one.page, 'J9-provider-down')
  open().world.fiat.fiatpay.faults.reset()
  await clickButton(one.page, 'Try again')
  await assertScreen(t, one, 'J9-again', /^Send exactly/)
})

test.serial('J10 too little arrives, and the page says where the money is', async (t) => {
  const one = await toWaiting(transfer)
  payFiatIntent(open().world, one.intentId, 500_000)
  await settleIntentNow(open().world, one.intentId)
  await returnToTab(one.page)
  const decide = one.page.getByRole('link', { name: 'Decide what becomes of it' })
  const link = (await decide.getAttribute('href')) ?? ''
  await assertScreen(t, one, 'J10-short', 'Only ₦5,000.00 arrived.', [
    'Ada Lovelace can decide, too.',
    one.intentId,
  ])
  const { page, context } = await prepareVisit(open(), transfer)
  await page.goto(link)
  await checkAccessibility(t, page, 'J10-decide')
  await clickButton(page, 'Let them have it as a smaller tip')
  await heading(page, 'Paid. Thank you!').waitFor()
  await context.close()
})

test.serial('J11 naira are typed with their limits, and the draft outlives a reload and Back', async (t) => {
  const one = await prepareVisit(open(), transfer)
  await one.page.goto(one.embedUrl)
  await one.page.getByRole('textbox', { name: /^Message/ }).fill('For the album')
  await chooseRadio(one.page, 'Other…')
  await one.page.getByRole('textbox', { name: 'Amount in US dollars' }).fill('₦4500')
  await one.page.getByRole('button', { name: 'Tip $2.81 with USDC' }).waitFor()
  await clickButton(one.page, /^Tip \$2\.81/)
  await heading(one.page, 'Choose your wallet').waitFor()
  await one.page.goBack()
  await one.page.getByRole('tab', { name: /^Naira/ }).click()
  await one.page.getByRole('textbox', { name: /^E-mail/ }).fill('tobi@example')
  await clickButton(one.page, 'Pay ₦4,500.00')
  await one.page.getByRole('alert').filter({ hasText: 'No receipt can be sent to this address.' }).waitFor()
  await checkAccessibility(t, one.page, 'J11-email')
  await one.page.getByRole('textbox', { name: /^E-mail/ }).fill('tobi@example.com')
  await one.page.reload()
  const amount = one.page.getByRole('textbox', { name: 'Amount in naira' })
  t.is(await amount.inputValue(), '₦4500')
  t.is(await one.page.getByRole('textbox', { name: /^Message/ }).inputValue(), 'For the album')
  await amount.fill('50')
  await clickButton(one.page, 'Pay in naira')
  await one.page
    .getByRole('alert')
    .filter({ hasText: /^Enter an amount from ₦100 to ₦[\d,]+\.$/ })
    .waitFor()
  await checkAccessibility(t, one.page, 'J11-naira')
  await amount.fill('₦4500')
  await clickButton(one.page, 'Pay ₦4,500.00')
  await heading(one.page, 'Send exactly ₦4,500.00').waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})
