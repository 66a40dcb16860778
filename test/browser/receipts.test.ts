import test from 'ava'
import type { Page } from 'playwright-core'
import { languageNames } from '../../src/kernel/languages.js'
import { collectPageErrors, phone, prepareVisit, useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { clickButton, heading } from '../helpers/browser/on-page.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)

/** Follows a link that opens a new tab. */
async function follow(page: Page, name: string): Promise<Page> {
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name }).click()
  return opened
}

test.serial('the page of a payment that is waited for says by itself that it arrived', async (t) => {
  const { world, browser } = open()
  const { user } = await registerCreator(world)
  const intent = await createFiatIntent(world, { creatorId: user.id, amount: 5, metadata: { order: 7 } })
  const { statusUrl = '' } = intent as { statusUrl?: string }
  const context = await browser.newContext({ viewport: phone })
  const faults = collectPageErrors(context)
  const page = await context.newPage()
  await page.clock.install()
  await page.goto(statusUrl)
  await heading(page, 'Waiting for ₦7,600.00').waitFor()
  await checkAccessibility(t, page, 'status-waiting')
  await page.evaluate('self.isSameLoad = true')
  payFiatIntent(world, intent.intentId)
  await settleIntentNow(world, intent.intentId)
  await until('it is said', async () => {
    await page.clock.runFor(10_000)
    return (await heading(page, 'Paid. Thank you!').count()) === 1
  })
  t.true(await page.evaluate('isSameLoad'))
  t.is(await page.title(), 'Paid. Thank you! · Tips')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial(
  'the thanks say what the form said, and lead to the receipt, which is checked offline',
  async (t) => {
    const one = await prepareVisit(open(), { viewport: phone })
    const { page, context, faults } = one
    const thanks = 'You <b>rock</b>!'
    await open().world.db('creator_pages').insert({ user_id: one.embedder.id, thanks })
    await page.goto(one.embedUrl)
    await page.getByRole('tab', { name: /^Naira/ }).click()
    await page.getByRole('textbox', { name: /^Message/ }).fill('For the album')
    await page.getByText('You pay ₦7,600.00 · fee 5 % · Ada Lovelace gets $4.75').waitFor()
    const answered = page.waitForResponse('**/payments/fiat/intent')
    await clickButton(page, 'Pay ₦7,600.00')
    const { intentId } = await (await answered).json()
    payFiatIntent(open().world, intentId)
    await settleIntentNow(open().world, intentId)
    await heading(page, /^Thank you/).waitFor()
    const facts = (await page.locator('dl.facts').innerText()).replace(/\s+/g, ' ')
    for (const part of ['₦7,600.00', 'Platform fee 5 %', 'Ada Lovelace receives $4.75', 'For the album'])
      t.true(facts.includes(part), `${part} in ${facts}`)
    await page.reload()
    await heading(page, /^Thank you/).waitFor()
    await page.getByText(thanks).waitFor()

    const status = await follow(page, 'Receipt and status')
    await heading(status, 'Paid. Thank you!').waitFor()
    await status.getByText('4.75 USDC, after our fee').waitFor()
    await status.getByText(thanks).waitFor()
    await checkAccessibility(t, status, 'status-paid')
    await status.getByRole('link', { name: 'Check the receipt' }).click()
    await status.getByText('Genuine', { exact: true }).waitFor()
    await status.getByText('http://tips.example signed exactly this:').waitFor()
    await checkAccessibility(t, status, 'receipt-genuine')

    await context.setOffline(true)
    const field = status.getByRole('textbox')
    const genuine = await field.inputValue()
    await field.fill(genuine.replace('"7600"', '"76000"'))
    await clickButton(status, 'Check it')
    await status.getByText('Not genuine').waitFor()
    await checkAccessibility(t, status, 'receipt-refused')
    await field.fill('<b>nothing</b>')
    await clickButton(status, 'Check it')
    await status.getByText('This is no receipt').waitFor()
    await field.fill(genuine)
    await clickButton(status, 'Check it')
    await status.getByText('Genuine', { exact: true }).waitFor()
    t.deepEqual(faults, [])
    await context.close()
  },
)

test.serial('who pays in French reads French to the end', async (t) => {
  const { page, context, embedUrl, faults } = await prepareVisit(open(), { viewport: phone })
  await page.goto(embedUrl.replace('#', '&lang=fr#'))
  await page.getByRole('tab', { name: /^Naira/ }).click()
  const answered = page.waitForResponse('**/payments/fiat/intent')
  await clickButton(page, /^Payer 7\s600,00/)
  const { intentId } = await (await answered).json()
  payFiatIntent(open().world, intentId)
  await settleIntentNow(open().world, intentId)
  await heading(page, /^Merci/).waitFor()
  // The status page has another host here, so it has no cookie of the checkout.
  const status = await follow(page, 'Reçu et état')
  await heading(status, 'Payé. Merci !').waitFor()
  await checkAccessibility(t, status, 'status-paid-fr')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial(
  'the status page fits 320 px in each language, is accessible, and changes it by links',
  async (t) => {
    const { world, browser } = open()
    const { embedder, context } = await prepareVisit(open())
    await context.close()
    const answer = await createFiatIntent(world, { creatorId: embedder.id, amount: 10, reference: 'Order 7' })
    payFiatIntent(world, answer.intentId, 1_000_000)
    await settleIntentNow(world, answer.intentId)
    const reader = await browser.newContext({ viewport: phone })
    const status = await reader.newPage()
    await status.goto((answer as typeof answer & { statusUrl: string }).statusUrl)
    for (const [language, title] of [
      ['en', /^Only/],
      ['fr', /^Il n’est arrivé que/],
      ['pcm', /^Only .* land$/],
    ] as const) {
      if (language !== 'en') await status.getByRole('link', { name: languageNames[language] }).click()
      await heading(status, title).waitFor()
      t.is(await status.evaluate('document.documentElement.lang'), language)
      await checkAccessibility(t, status, `status-short-${language}`)
    }
    await reader.close()
  },
)
