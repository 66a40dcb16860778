import test, { type ExecutionContext } from 'ava'
import type { BrowserContext, Page } from 'playwright-core'
import { type BrowserWorld, faultsOf, useBrowser } from '../helpers/browser/browser.js'
import { hostileTexts } from '../helpers/http/hostile-texts.js'
import { inspect } from '../helpers/inspect.js'
import { plantConfirmed } from '../helpers/make/confirmed-tips.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { startRestartableApp } from '../helpers/servers/restartable-app.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)
test.serial.beforeEach((t) => t.timeout(90_000))
/** Alerts come and go quickly, so that tests need not wait. */
const quick = 'duration=1000&gap=0&animation=none'

interface Source {
  readonly context: BrowserContext
  readonly page: Page
  readonly faults: readonly string[]
  /** What was shown so far, in order, over every load of the page. */
  readonly shown: () => string[]
}

/** A browser source of a streaming program, which keeps what it stores. */
async function addSource(t: ExecutionContext, { browser }: BrowserWorld): Promise<Source> {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } })
  const page = await context.newPage()
  const shown: string[] = []
  const faults = faultsOf(context)
  await context.exposeFunction('note', (text: string) => shown.push(text))
  await context.addInitScript(
    "addEventListener('tip:show', ({ detail }) => note(detail.message ?? detail.sender ?? String(detail.count)))",
  )
  t.teardown(() => context.close())
  return { context, page, faults, shown: () => shown }
}

const plant = (wallet: string, message: string) =>
  plantConfirmed(open().world.services, [wallet], { message })

/** The stream of this page stands: what is confirmed now is live. */
async function goTo(page: Page, url: string): Promise<void> {
  const stream = page.waitForResponse((answer) => answer.url().includes('/chain/tips/stream'))
  await page.goto(url)
  await stream
  const place = `overlay:${new URL(url).searchParams.get('wallet')}`
  await until('the page has its place in the stream', () =>
    page.evaluate<boolean>(`localStorage.getItem('${place}') !== null`),
  )
}

test.serial('a tip appears over a transparent page, one after the other, and goes away again', async (t) => {
  const { page, shown, faults } = await addSource(t, open())
  const wallet = strangerWallet()
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

test.serial('an alert, and an address without a wallet, can be read by everybody', async (t) => {
  const { page, faults } = await addSource(t, open())
  const wallet = strangerWallet()
  await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&duration=60000&animation=none`)
  await plant(wallet, 'a word that is as long as it may be: '.padEnd(200, 'x'))
  await page.locator('.tip--show').waitFor()
  await inspect(t, page, 'overlay-tip')
  await page.goto(`${open().world.url}/overlay?wallet=nobody`)
  await page
    .getByText(/wallet/)
    .first()
    .waitFor()
  await inspect(t, page, 'overlay-no-wallet')
  t.deepEqual(faults, [])
})

test.serial(
  'through reloads, 503s, and a service that is away, every tip is shown once, in order',
  async (t) => {
    const { world } = open()
    const app = await startRestartableApp(world.env)
    t.teardown(() => app.close())
    const { page, shown, faults } = await addSource(t, open())
    const wallet = strangerWallet()
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
  },
)

test.serial('a source that nobody sees holds its alerts back', async (t) => {
  const { page, shown } = await addSource(t, open())
  const wallet = strangerWallet()
  await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&${quick}`)
  const seen = (active: boolean) =>
    page.evaluate(
      `dispatchEvent(new CustomEvent('obsSourceActiveChanged', { detail: { active: ${active} } }))`,
    )
  await seen(false)
  const live = page.waitForEvent('console', { predicate: (message) => message.text() === 'probe' })
  await plant(wallet, 'held')
  // The second reader of the same stream has it, so the first one has it, too.
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

test.serial('an address without a wallet, or with none that exists, says so', async (t) => {
  const { page } = await addSource(t, open())
  await page.goto(`${open().world.url}/overlay`)
  await page.getByText('This overlay needs a wallet').waitFor()
  await page.goto(`${open().world.url}/overlay?wallet=nonsense`)
  await page.getByText('There is no such wallet.').waitFor()
  t.pass()
})

test.serial('what strangers write stays text, inside its card, and runs nothing', async (t) => {
  const { page, shown, faults } = await addSource(t, open())
  const template = encodeURIComponent('<b onclick=1>{sender}</b> {amount} {token}')
  for (const [at, text] of hostileTexts.entries()) {
    const wallet = strangerWallet()
    // It stays for as long as one looks at it.
    const look = `duration=60000&animation=none&template=${template}`
    await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&${look}`)
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

test.serial('an alert is heard when sound is asked for, and only then', async (t) => {
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
    const wallet = strangerWallet()
    const before = shown().length
    await goTo(page, `${open().world.url}/overlay?wallet=${wallet}&${quick}${sound}`)
    await plant(wallet, 'heard')
    await until('it is shown', () => shown().length === before + 1)
    t.deepEqual(await page.evaluate('tones'), tones, sound)
  }
})

test.serial('a minute without the service shows a dot, which goes when it is back', async (t) => {
  const app = await startRestartableApp(open().world.env)
  t.teardown(() => app.close())
  const { page, faults } = await addSource(t, open())
  await page.clock.install()
  await goTo(page, `${app.url}/overlay?wallet=${strangerWallet()}&${quick}`)
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
