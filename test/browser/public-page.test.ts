import test, { type ExecutionContext } from 'ava'
import type { BrowserContext, Page } from 'playwright-core'
import { prepareVisit, useBrowser, type Visit, type VisitOptions } from '../helpers/browser/browser.js'
import { axeViolations, checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { chooseRadio, clickButton, heading } from '../helpers/browser/on-page.js'
import { provisionerBatch, registerPerson } from '../helpers/make/creators.js'
import { payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { listTips } from '../helpers/make/tips.js'
import { runBatch } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)
/** What strangers do on a creator's page. The tests are serial: each has the browser to itself. */

const smallPhone = { width: 360, height: 740 }
const mostBytes = 48 * 1024
let made = 0

/** A creator with a page, and somebody who has its address. */
async function visitPage(options: VisitOptions = {}): Promise<Visit & { readonly address: string }> {
  const { world } = open()
  const one = await prepareVisit(open(), options)
  made += 1
  const handle = `page_${'abcdefgh'[made]}${'klmnopqr'[made]}`
  const body = {
    handle,
    words: 'I sing on Fridays. Thank you for every tip, however small it is.',
    links: [{ title: 'My songs', url: 'https://songs.example/' }],
    goal: { title: 'A microphone', amountUsd: 100 },
    wall: true,
    thanks: 'You keep the music going!',
  }
  const { session } = one.embedder
  const { status } = await world.request('PATCH', '/creators/page', { session, body })
  if (status !== 200) throw new Error(`the page was refused: ${status}`)
  return { ...one, address: `${world.url}/@${handle}` }
}

/** The bytes that arrive for the page, as they are on the wire. */
async function countBytes(context: BrowserContext, page: Page): Promise<() => number> {
  const client = await context.newCDPSession(page)
  let bytes = 0
  client.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await client.send('Network.enable')
  return () => bytes
}

/** Whether all of the pay button is on the screen, without scrolling. */
async function assertPayInReach(t: ExecutionContext, page: Page): Promise<void> {
  const box = await page.locator('button[type=submit]').boundingBox()
  t.true(box !== null && box.y > 0 && box.y + box.height <= smallPhone.height, JSON.stringify(box))
}

test.serial(
  'P1 a phone in Lagos reads the page, pays naira by transfer, and stands on the wall',
  async (t) => {
    const { world } = open()
    const one = await visitPage({ wallet: 'none', viewport: smallPhone, timezoneId: 'Africa/Lagos' })
    const { page, context, address } = one
    const bytes = await countBytes(context, page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    // From now on the service knows the rate for some seconds, as where many visit.
    await world.request('GET', '/payments/fiat/rate?amount=100')
    await page.goto(address)
    await page.getByRole('button', { name: /^Pay ₦1,0/ }).waitFor()
    await page.waitForLoadState('networkidle')
    t.true(bytes() > 10_000 && bytes() <= mostBytes, `${bytes()} bytes`)
    // After these nothing is waited for.
    t.deepEqual(
      asked.filter((path) => !/^\/(assets\/|pay-icon[.]svg$)/.test(path)),
      [new URL(address).pathname],
    )
    t.is(asked.filter((path) => path.startsWith('/assets/')).length, 6, 'one for each connection of HTTP/1.1')
    t.is(
      (await world.db('sdk_sessions').where({ user_id: one.embedder.id })).length,
      1,
      'who looks opens none',
    )
    await assertPayInReach(t, page)
    t.deepEqual(
      await page
        .getByRole('radio', { name: /₦/ })
        .evaluateAll((all) => all.map((radio) => (radio as HTMLElement).parentElement?.textContent)),
      ['₦ Naira', '₦500', '₦1,000', '₦2,000', '₦5,000'],
    )
    await checkAccessibility(t, page, 'P1-page')
    await chooseRadio(page, 'Other…')
    await page.getByRole('textbox', { name: 'Amount in naira' }).fill('700')
    await page.getByText(/^From ₦100/).waitFor()
    await page.getByRole('textbox', { name: /^Your name/ }).fill('Tobi')
    const answered = page.waitForResponse('**/payments/fiat/intent')
    await clickButton(page, 'Pay ₦700.00')
    const { intentId } = await (await answered).json()
    await heading(page, 'Send exactly ₦700.00').waitFor()
    payFiatIntent(world, intentId)
    await settleIntentNow(world, intentId)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await heading(page, 'Thank you! ₦700.00 received.').waitFor()
    await page.getByText('You keep the music going!').waitFor()
    await checkAccessibility(t, page, 'P1-thanks')
    t.deepEqual(one.faults, [])
    await context.close()

    const plain = await open().browser.newContext({ javaScriptEnabled: false, viewport: smallPhone })
    const reader = await plain.newPage()
    await reader.goto(address)
    await heading(reader, 'Ada Lovelace').waitFor()
    for (const text of ['I sing on Fridays', 'My songs', 'Tobi', '₦700'])
      t.true(await reader.getByText(text).first().isVisible(), text)
    await plain.close()
  },
)

test.serial('P2 a wallet pays on the page, twice, and the currency that was chosen is kept', async (t) => {
  const one = await visitPage({ timezoneId: 'Africa/Lagos' })
  const { page, address, embedder } = one
  await page.goto(address)
  await chooseRadio(page, '$ Dollars')
  await page.getByRole('tab', { name: /^Crypto/ }).click()
  for (const tips of [1, 2]) {
    await chooseRadio(page, '$5')
    await chooseRadio(page, 'USDC')
    await clickButton(page, 'Tip $5.00 with USDC')
    await page.getByRole('button', { name: /^Test Wallet/ }).click()
    await clickButton(page, 'Approve in Test Wallet')
    await heading(page, /^Thank you! Ada Lovelace has received/).waitFor()
    await until(
      'the tip is listed',
      async () => (await listTips(open().world, embedder.wallet)).length === tips,
    )
    await clickButton(page, 'Tip again')
  }
  t.deepEqual(one.faults, [])
  await page.close()
  const later = await one.context.newPage()
  await later.goto(address)
  await later.getByRole('radio', { name: '$ Dollars', checked: true }).waitFor()
  await one.context.close()
})

test.serial(
  'P3 a desktop in Lagos opens on naira, on a site’s checkout too, and a card is a choice',
  async (t) => {
    const one = await visitPage({ timezoneId: 'Africa/Lagos' })
    const { page } = one
    await page.goto(one.embedUrl)
    await page.getByRole('button', { name: /^Pay ₦1,0/ }).waitFor()
    await page.goto(one.address)
    await page.getByRole('radio', { name: 'Bank transfer', checked: true }).waitFor()
    await chooseRadio(page, 'Card, USSD or bank')
    await clickButton(page, /^Pay ₦1,0/)
    await heading(page, 'Finish paying in the other tab.').waitFor()
    await page.reload()
    await heading(page, 'Finish paying in the other tab.').waitFor()
    t.deepEqual(one.faults, [])
    await one.context.close()
  },
)

test.serial(
  'P5 a page whose wallet is still made says so, and shows its form when it is there',
  async (t) => {
    const { world, browser } = open()
    const { session } = await registerPerson(world)
    await world.request('PATCH', '/creators/page', { session, body: { handle: 'quite_new' } })
    const context = await browser.newContext({ viewport: smallPhone, timezoneId: 'Africa/Lagos' })
    const page = await context.newPage()
    // The page is loaded again when the test says so.
    await page.addInitScript(`{
      const own = setTimeout
      globalThis.setTimeout = (act, ms, ...rest) => (ms === 3000 ? void (globalThis.loadAgain = act) : own(act, ms, ...rest))
    }`)
    await page.goto(`${world.url}/@quite_new`)
    await page.getByText('This page is being prepared…').waitFor()
    await until('it waits', () => page.evaluate<boolean>('globalThis.loadAgain !== undefined'))
    t.deepEqual(await axeViolations(page), [])
    await runBatch(provisionerBatch(world))
    await page.evaluate('loadAgain()')
    await page.getByRole('button', { name: /^Pay ₦1,0/ }).waitFor()
    await context.close()
  },
)

test.serial('P4 each language fits 320 px, is accessible, and is remembered', async (t) => {
  const { page, address } = await visitPage({
    wallet: 'none',
    viewport: { width: 320, height: 640 },
    timezoneId: 'Africa/Lagos',
  })
  for (const [language, pay] of [
    ['fr', /^Payer ₦|^Payer .*₦/],
    ['pcm', /^Pay ₦/],
  ] as const) {
    await page.goto(`${address}?lang=${language}`)
    await page.getByRole('button', { name: pay }).waitFor()
    t.is(await page.evaluate(() => document.documentElement.lang), language)
    t.true(await page.evaluate(() => document.documentElement.scrollWidth <= 320), `${language} is wider`)
    await checkAccessibility(t, page, `P4-${language}`)
    await page.goto(address)
    t.is(await page.evaluate(() => document.documentElement.lang), language, 'remembered')
  }
})
