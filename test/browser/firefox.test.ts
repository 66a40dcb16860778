import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createTippable } from '../actions/support.js'
import { createEmbedSession } from '../helpers/browser/browser.js'
import { axeViolations, fitsWidth } from '../helpers/browser/check-accessibility.js'
import { type Firefox, type FirefoxPage, hasFirefox, startFirefox } from '../helpers/browser/firefox.js'
import { createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { createFiatIntent } from '../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder, site } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

/** The pages in the other engine. */
const world = useWorld(test, { chain: true, fiat: true })
const inFirefox = hasFirefox ? test.serial : test.skip
test.serial.beforeEach((t) => t.timeout(180_000))

let firefox: Firefox | undefined
const profile = hasFirefox ? mkdtempSync(join(tmpdir(), 'firefox-')) : ''
test.before('Firefox starts', async () => {
  firefox = await startFirefox(profile)
})
test.after.always('Firefox ends', async () => {
  await firefox?.close()
  rmSync(profile, { recursive: true, force: true })
})

async function openPage(address: string): Promise<FirefoxPage> {
  if (firefox === undefined) throw new Error('Firefox did not start')
  const page = await firefox.newPage(360, 740)
  await page.goto(address)
  return page
}

/** An element with this text, as a script. */
const named = (selector: string, text: string): string =>
  `[...document.querySelectorAll('${selector}')].find((one) => one.textContent.trim() === '${text}' && one.ariaDisabled !== 'true')`

const waitFor = (page: FirefoxPage, selector: string, text: string): Promise<void> =>
  until(`${text} is there`, () => page.evaluate<boolean>(`${named(selector, text)} !== undefined`))

async function press(page: FirefoxPage, selector: string, text: string): Promise<void> {
  await waitFor(page, selector, text)
  await page.evaluate(`${named(selector, text)}.click()`)
}

/** Checks what is shown: axe in both themes, a screen of 360 px, no error of a script. Saves a screenshot. */
async function assertClean(t: ExecutionContext, name: string, page: FirefoxPage): Promise<void> {
  for (const theme of ['light', 'dark']) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
    t.deepEqual(await axeViolations(page), [], `${name} in ${theme}`)
  }
  t.true(await fitsWidth(page), `${name} fits 360 px`)
  mkdirSync('screenshots', { recursive: true })
  writeFileSync(`screenshots/firefox-${name}.png`, await page.screenshot())
  t.deepEqual(page.faults, [], name)
}

inFirefox('a creator’s page takes a choice and leads on to the payment', async (t) => {
  const { handle } = await createTippable(world())
  const page = await openPage(`${world().url}/@${handle}`)
  await waitFor(page, 'button', 'Pay ₦1,000.00')
  await assertClean(t, 'page', page)
  await press(page, 'label', '₦2,000')
  await press(page, 'button', 'Pay ₦2,000.00')
  await waitFor(page, 'h2', 'Send exactly ₦2,000.00')
  await assertClean(t, 'instructions', page)
})

inFirefox('a site’s checkout shows its form', async (t) => {
  const { embedUrl } = await createEmbedSession(world(), await registerEmbedder(world()), site)
  const page = await openPage(embedUrl)
  await waitFor(page, 'button', 'Pay ₦1,000.00')
  await assertClean(t, 'checkout', page)
})

inFirefox('the dashboard shows its forms', async (t) => {
  const page = await openPage(`${world().url}/dashboard`)
  await waitFor(page, 'button', 'Sign in')
  await assertClean(t, 'sign-in', page)
  await press(page, 'button', 'Make an account')
  await waitFor(page, 'button', 'Make my account')
  await assertClean(t, 'register', page)
})

inFirefox('the overlay shows a tip that arrives', async (t) => {
  const wallet = unusedWallet()
  const page = await openPage(`${world().url}/overlay?wallet=${wallet}&duration=60000&animation=none`)
  await until('the overlay has its place in the stream', () =>
    page.evaluate<boolean>(`localStorage.getItem('overlay:${wallet}') !== null`),
  )
  await createConfirmedSolTips(world().services, [wallet], { message: 'hello' })
  await until('the tip is shown', () =>
    page.evaluate<boolean>(`document.querySelector('.tip--show')?.textContent.includes('hello') === true`),
  )
  await assertClean(t, 'overlay', page)
})

inFirefox('the page of a payment says how it stands', async (t) => {
  const { user } = await createTippable(world())
  const intent = await createFiatIntent(world(), { creatorId: user.id, amount: 5, metadata: { order: 7 } })
  const { statusUrl = '' } = intent as { statusUrl?: string }
  const page = await openPage(statusUrl.replace(publicUrl, world().url))
  await waitFor(page, 'h1', 'Waiting for ₦7,600.00')
  await assertClean(t, 'status', page)
})

inFirefox('an error of a script is noticed', async (t) => {
  const page = await openPage(`${world().url}/dashboard`)
  await page.evaluate(`void queueMicrotask(() => { throw new Error('on purpose') })`)
  await until('it is noticed', () => page.faults.length > 0)
  t.regex(page.faults[0] ?? '', /on purpose/)
})
