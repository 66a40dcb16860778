import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import type { BrowserContext, Page } from 'playwright-core'
import { type BrowserWorld, collectPageErrors, useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { hostileTexts } from '../helpers/http/hostile-input.js'
import { createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { startRestartableApp } from '../helpers/servers/serve-app.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)
test.serial.beforeEach((t) => t.timeout(90_000))
/** Short alerts, so that tests need not wait. */
const quick = 'duration=1000&gap=0&animation=none'

interface Source {
  readonly context: BrowserContext
  readonly page: Page
  readonly faults: readonly string[]
  /** The alerts shown so far, in order, over all loads of the page. */
  readonly shown: () => string[]
}

/** A browser source of a streaming program: its storage survives reloads. */
async function addSource(t: ExecutionContext, { browser }: BrowserWorld): Promise<Source> {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } })
  const page = await context.newPage()
  const shown: string[] = []
  const faults = collectPageErrors(context)
  await context.exposeFunction('note', (text: string) => shown.push(text))
  await context.addInitScript(
    "addEventListener('tip:show', ({ detail }) => note(detail.message ?? detail.sender ?? String(detail.count)))",
  )
  t.teardown(() => context.close())
  return { context, page, faults, shown: () => shown }
}

const plant = (wallet: string, message: string) =>
  createConfirmedSolTips(open().world.services, [wallet], { message })

/** Opens an overlay and waits until its stream is connected and its cursor is stored. */
async function goTo(page: Page, url: string): Promise<void> {
  const stream = page.waitForResponse((answer) => answer.url().includes('/chain/tips/stream'))
  await page.goto(url)
  await stream
  const cursorKey = `overlay:${new URL(url).searchParams.get('wallet')}`
  await until('the page has stored its cursor', () =>
    page.evaluate<boolean>(`localStorage.getItem('${cursorKey}') !== null`),
  )
}

test.serial('tips appear one at a time on a transparent page and disappear again', async (t) => {
  const { page, shown, faults } = await addSource(t, open())
  const wallet = unusedWallet()
  await plant(wallet, 'before anybody looked')
  await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&duration=3000&gap=0`)
  t.is(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgba(0, 0, 0, 0)')
  await plant(wallet, 'first')
  await plant(wallet, 'second')
  const tip = page.locator('article.tip')
  await tip.filter({ hasText: 'first' }).waitFor()
  await page.locator('.tip--show').waitFor()
  t.is(await tip.count(), 1)
  t.is(await tip.getAttribute('data-token'), 'SOL')
  await page.screenshot({ path: 'screenshots/overlay-alert.png', omitBackground: true })
  await tip.filter({ hasText: 'second' }).waitFor()
  await tip.waitFor({ state: 'detached' })
  t.deepEqual(shown(), ['first', 'second'])
  t.deepEqual(faults, [])
})

test.serial('an alert and the message about a wrong wallet pass the accessibility checks', async (t) => {
  const { page, faults } = await addSource(t, open())
  const wallet = unusedWallet()
  await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&duration=60000&animation=none`)
  await plant(wallet, 'a word that is as long as it may be: '.padEnd(200, 'x'))
  await page.locator('.tip--show').waitFor()
  await checkAccessibility(t, page, 'overlay-tip')
  await page.goto(`${open().world.url}/overlay?wallet=nobody`)
  await page
    .getByText(/wallet/)
    .first()
    .waitFor()
  await checkAccessibility(t, page, 'overlay-no-wallet')
  t.deepEqual(faults, [])
})

test.serial('every tip is shown once and in order, through reloads, 503s and an outage', async (t) => {
  const { world } = open()
  const app = await startRestartableApp(world.env)
  t.teardown(() => app.close())
  const { page, shown, faults } = await addSource(t, open())
  const wallet = unusedWallet()
  const address = `${app.url}/overlay?wallet=${wallet}&${quick}`
  await goTo(page, address)
  const expected: string[] = []
  const tips = async (...messages: string[]): Promise<void> => {
    for (const message of messages) await plant(wallet, message)
    expected.push(...messages)
  }
  const all = () => until(`${expected.length} were shown`, () => shown().length === expected.length, 30_000)
  await app.stop('nothing')
  await tips('before any other was seen')
  await app.start()
  await all()
  await tips('live')
  await all()

  await app.stop('503')
  await tips('while 503 a', 'while 503 b')
  await app.start()
  await all()

  await tips('before the reload', 'waiting at the reload a', 'waiting at the reload b')
  await until('the first of them is shown', () => shown().includes('before the reload'))
  await page.goto('about:blank')
  await tips('while the scene was another')
  await page.goto(address)
  await all()
  t.deepEqual(shown(), expected)
  t.deepEqual(faults, [])
})

test.serial('a source that is not shown holds its alerts back', async (t) => {
  const { page, shown } = await addSource(t, open())
  const wallet = unusedWallet()
  await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&${quick}`)
  const seen = (active: boolean) =>
    page.evaluate(
      `dispatchEvent(new CustomEvent('obsSourceActiveChanged', { detail: { active: ${active} } }))`,
    )
  await seen(false)
  const live = page.waitForEvent('console', { predicate: (message) => message.text() === 'probe' })
  await plant(wallet, 'held')
  // A second reader of the stream has got the tip, so the overlay has got it, too.
  await page.evaluate(`(async () => {
    const reader = (await fetch('/chain/tips/stream?wallet=${wallet}', { headers: { 'last-event-id': '0' } })).body.getReader()
    for (let text = ''; !text.includes('held'); ) text += new TextDecoder().decode((await reader.read()).value)
    console.log('probe')
  })()`)
  await live
  t.deepEqual(shown(), [])
  await seen(true)
  await until('it is shown', () => shown().length === 1)
})

test.serial('a URL without a wallet, or with an invalid one, shows a message', async (t) => {
  const { page } = await addSource(t, open())
  await page.goto(`${open().world.url}/overlay`)
  await page.getByText('This overlay needs a wallet').waitFor()
  await page.goto(`${open().world.url}/overlay?wallet=nonsense`)
  await page.getByText('There is no such wallet.').waitFor()
  t.pass()
})

test.serial('hostile text stays text inside its alert and runs no script', async (t) => {
  const { page, shown, faults } = await addSource(t, open())
  const template = encodeURIComponent('<b onclick=1>{sender}</b> {amount} {token}')
  for (const [at, text] of hostileTexts.entries()) {
    const wallet = unusedWallet()
    const longShown = `duration=60000&animation=none&template=${template}`
    await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&${longShown}`)
    await plant(wallet, text)
    await until(`text ${at} is shown`, () => shown().length === at + 1)
    const card = await page.locator('article.tip').boundingBox()
    t.true(
      card !== null &&
        card.x >= 0 &&
        card.x + card.width <= 800 &&
        card.y >= 0 &&
        card.y + card.height <= 600,
      text,
    )
    t.is(await page.locator('article :is(script, img, svg, h1, b, iframe)').count(), 0)
    t.is(await page.evaluate('window.hacked'), undefined)
  }
  t.deepEqual(shown(), [...hostileTexts])
  t.deepEqual(faults, [])
})

test.serial('an alert plays a sound only when `sound` is set', async (t) => {
  const { page, shown } = await addSource(t, open())
  await page.addInitScript(
    `self.tones = []
    const { start } = OscillatorNode.prototype
    OscillatorNode.prototype.start = function (...when) { tones.push(this.frequency.value); start.apply(this, when) }`,
  )
  for (const [sound, tones] of [
    ['', []],
    ['&sound=1&volume=0.2', [880, 1318.5]],
  ] as const) {
    const wallet = unusedWallet()
    const before = shown().length
    await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&${quick}${sound}`)
    await plant(wallet, 'heard')
    await until('it is shown', () => shown().length === before + 1)
    t.deepEqual(await page.evaluate('tones'), tones, sound)
  }
})

test.serial('a dot appears after a minute without the service and disappears when it is back', async (t) => {
  const app = await startRestartableApp(open().world.env)
  t.teardown(() => app.close())
  const { page, faults } = await addSource(t, open())
  await page.clock.install()
  await goTo(page, `${app.url}/overlay?wallet=${unusedWallet()}&${quick}`)
  const dot = page.locator('.dot')
  await app.stop('nothing')
  await page.clock.runFor(50_000)
  t.is(await dot.count(), 0)
  await page.clock.runFor(20_000)
  await dot.waitFor()
  await app.start()
  await until('the dot is gone', async () => {
    await page.clock.runFor(1000)
    return (await dot.count()) === 0
  })
  t.deepEqual(faults, [])
})

test.serial(
  'the example of an overlay shows a tip on a site of its own, with its words as text',
  async (t) => {
    const { world, site } = open()
    const { page, faults } = await addSource(t, open())
    const wallet = unusedWallet()
    const connected = page.waitForResponse((answer) => answer.url().includes('/chain/tips/stream'))
    const query = new URLSearchParams({ service: world.url, wallet })
    await page.goto(`${site.serve(readFileSync('docs/examples/overlay/overlay.html', 'utf8'))}?${query}`)
    await connected
    t.false(await page.locator('#tip').isVisible())
    await plant(wallet, '<img src=x>hello')
    await page.locator('#tip').waitFor()
    t.regex((await page.locator('#tip span').textContent()) ?? '', /^\w+ tipped 0\.5 SOL$/)
    t.is(await page.locator('#tip p').textContent(), '<img src=x>hello')
    await page.locator('#tip').waitFor({ state: 'hidden' })
    t.deepEqual(faults, [])
  },
)
