import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import type { BrowserContext, Page } from 'playwright-core'
import sharp from 'sharp'
import { type BrowserWorld, collectPageErrors, useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { openDashboard } from '../helpers/browser/dashboard.js'
import { hostileTexts } from '../helpers/http/hostile-input.js'
import { createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { startRestartableApp } from '../helpers/servers/serve-app.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)
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

const replay0 = `${quick}&replay=0`

test.serial('with replay=0 live tips are shown, and none that was missed', async (t) => {
  const { page, shown } = await addSource(t, open())
  const wallet = unusedWallet()
  const address = `${open().world.url}/overlay?wallet=${wallet}&${replay0}`
  await goTo(page, address)
  await plant(wallet, 'live')
  await until('it is shown', () => shown().length === 1)
  await page.goto('about:blank')
  await plant(wallet, 'missed')
  // The service's clock is read to the second.
  await until('a second has passed', async () => {
    const { rows } = await open().world.db.raw(
      `select date_trunc('second', now()) > max(confirmed_at) as over from tips where message = 'missed'`,
    )
    return rows[0].over === true
  })
  await goTo(page, address)
  await plant(wallet, 'live again')
  await until('the next is shown', () => shown().length === 2)
  t.deepEqual(shown(), ['live', 'live again'])
})

const ownOverlay = async (creator: TestCreator): Promise<string> => {
  const { request } = open().world
  const { session } = creator
  const { body } = await request<{ overlay: { url: string } }>('GET', '/creators/overlay', { session })
  return new URL(body.overlay.url).pathname
}
const change = ({ session }: TestCreator, body: unknown) =>
  open().world.request('PATCH', '/creators/overlay', { session, body })
const decide = ({ session }: TestCreator, signature: string, decision: string) =>
  open().world.request('POST', '/creators/overlay/tips', { session, body: { signature, decision } })

/** Opens an overlay with a token and waits until it is connected. */
async function goToOwn(page: Page, address: string): Promise<void> {
  await page.goto(address)
  const key = `overlay:${new URL(address).pathname.split('/').at(-1)}`
  await until('the page has stored its cursor', () =>
    page.evaluate<boolean>(`localStorage.getItem('${key}') !== null`),
  )
}

test.serial(
  'overlays with a token show each alert once and in order through restarts and cut connections, and nothing held or hidden',
  async (t) => {
    const { world } = open()
    const creator = await registerCreator(world)
    await change(creator, {
      durationMs: 1000,
      gapMs: 0,
      animation: 'none',
      approval: 'filtered',
      filter: ['ask'],
    })
    const app = await startRestartableApp(world.env)
    t.teardown(() => app.close())
    const sources = [await addSource(t, open()), await addSource(t, open())]
    const address = app.url + (await ownOverlay(creator))
    for (const { page } of sources) await goToOwn(page, address)
    const tip = async (message: string): Promise<string> => (await plant(creator.wallet, message))[0] ?? ''
    const expected: string[] = []
    const all = (...messages: string[]) => {
      expected.push(...messages)
      return until(
        `both have shown ${expected.length}`,
        () => sources.every(({ shown }) => shown().length === expected.length),
        30_000,
      )
    }
    await tip('live')
    const asked = await tip('ask me first')
    const refused = await tip('ask me, too')
    await tip('after those')
    await all('live', 'after those')

    await app.stop('nothing')
    await tip('while it was away')
    await decide(creator, refused, 'hold')
    const insult = await tip('an insult')
    await decide(creator, asked, 'approve')
    await decide(creator, insult, 'hide')
    await app.start()
    await all('while it was away', 'ask me first')

    for (const { context } of sources) await context.setOffline(true)
    await tip('while cut off')
    await app.stop('503')
    await tip('and then 503')
    for (const { context } of sources) await context.setOffline(false)
    await app.start()
    await all('while cut off', 'and then 503')
    for (const { shown } of sources) t.deepEqual(shown(), expected)
  },
)

test.serial(
  'settings and test alerts arrive without a reload, and a new address ends the old one',
  async (t) => {
    const { world } = open()
    const creator = await registerCreator(world)
    const { page, shown, faults } = await addSource(t, open())
    await page.addInitScript(
      `self.said = []
    speechSynthesis.speak = ({ text }) => said.push(text)
    self.tones = []
    const { start } = OscillatorNode.prototype
    OscillatorNode.prototype.start = function (...when) { tones.push(this.frequency.value); start.apply(this, when) }`,
    )
    await goToOwn(page, world.url + (await ownOverlay(creator)))
    await page.evaluate('self.sameLoad = true')
    await change(creator, {
      position: 'top',
      durationMs: 1000,
      gapMs: 0,
      animation: 'none',
      tiers: [{ fromUsd: 10, template: '<b>{sender}</b> is generous', sound: 'bell' }],
      speech: { enabled: true, fromUsd: 10 },
    })
    await page.locator('html[data-position="top"]').waitFor()
    const test = (amountUsd: number) =>
      world.request('POST', '/creators/overlay/test', { session: creator.session, body: { amountUsd } })
    await test(9.99)
    await page.getByText('Tobi tipped 9.99 USDC').waitFor()
    t.deepEqual(await page.evaluate('[tones, said]'), [[], []])
    await test(10)
    await page.getByText('<b>Tobi</b> is generous').waitFor()
    t.deepEqual(await page.evaluate('[tones, said]'), [
      [659.25, 1318.5, 1975.5],
      ['<b>Tobi</b> is generous. Great show! Greetings from Lagos.'],
    ])
    const { intentId } = await createFiatIntent(world, {
      creatorId: creator.user.id,
      amount: 5,
      amountNgn: 8000,
      senderName: 'Ngozi',
      memo: 'in naira',
    })
    payFiatIntent(world, intentId)
    await settleIntentNow(world, intentId)
    await page.getByText('Ngozi tipped ₦8,000').waitFor()
    t.true(await page.evaluate<boolean>('sameLoad'))
    t.is(shown().at(-1), 'in naira')
    await world.request('POST', '/creators/overlay/token', { session: creator.session, body: {} })
    await page.getByText('This address has ended.').waitFor()
    const old = await page.reload()
    t.is(old?.status(), 404)
    await page.getByRole('heading', { name: 'This overlay has ended' }).waitFor()
    t.deepEqual(
      faults.filter((fault) => !fault.includes('404')),
      [],
    )
  },
)

test.serial('the lists show top supporters and the latest tips, without what is held', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  const { page, faults } = await addSource(t, open())
  const address = world.url + (await ownOverlay(creator))
  await page.goto(`${address}?show=latest`)
  await page.getByText('No tips yet').waitFor()
  const [id = ''] = await plant(creator.wallet, 'held soon')
  await page.getByText('0.5 SOL').waitFor()
  await checkAccessibility(t, page, 'overlay-latest')
  await decide(creator, id, 'hold')
  await page.getByText('No tips yet').waitFor()
  await plant(creator.wallet, 'counts')
  await page.goto(`${address}?show=top`)
  await page.getByText('Top supporters').waitFor()
  await page.locator('.widget__row').waitFor()
  t.is(await page.locator('.widget__row').count(), 1)
  t.deepEqual(faults, [])
})

test.serial(
  'on the dashboard a creator sees changes in the preview, approves tips and deletes words',
  async (t) => {
    const { world } = open()
    const creator = await registerCreator(world)
    const { page, context, faults } = await openDashboard(open(), creator.session, '/dashboard/overlay')
    const preview = page.frameLocator('iframe')
    await preview.locator('article.tip').waitFor()
    // A minute is long enough for the slowest browser to look.
    const field = (name: string) => page.getByRole('textbox', { name, exact: true })
    await field('Shown for (seconds)').fill('600')
    await page.getByRole('combobox', { name: 'Position' }).selectOption('top')
    await field('Text').first().fill('{sender} gave {amount} {token}!')
    await page.keyboard.press('Tab')
    await preview.getByText('Tobi gave 5 USDC!').waitFor()
    await preview.locator('[data-position="top"]').waitFor()
    await page.getByRole('button', { name: 'Add an amount' }).click()
    await page.getByText('From $10').waitFor()
    const drawn = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#2a7' } })
      .png()
      .toBuffer()
    await page
      .getByLabel('Picture', { exact: true })
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: drawn })
    await page.getByRole('button', { name: 'Remove the picture' }).waitFor()
    await page.getByRole('textbox', { name: 'Words you don’t want to see' }).fill('scam\nother words')
    await page.keyboard.press('Tab')
    await page.getByRole('combobox', { name: 'Before a tip with words is shown' }).selectOption('filtered')
    await until('all is saved', async () => {
      const { body } = await world.request<{ overlay: { settings: object } }>('GET', '/creators/overlay', {
        session: creator.session,
      })
      const { settings } = body.overlay as { settings: Record<string, unknown> }
      return (
        settings['approval'] === 'filtered' &&
        settings['durationMs'] === 60_000 &&
        JSON.stringify(settings['filter']) === '["scam","other words"]' &&
        /^\[{"picture":"[0-9a-f]{16}","fromUsd":10}\]$|^\[{"fromUsd":10,"picture":"[0-9a-f]{16}"}\]$/.test(
          JSON.stringify(settings['tiers']),
        )
      )
    })
    const source = await context.newPage()
    await goToOwn(source, world.url + (await ownOverlay(creator)))
    await page.bringToFront()
    await page.getByRole('button', { name: 'Send a test alert' }).click()
    await source.getByText('Tobi gave 5 USDC!').waitFor()
    await source.reload()
    await world.request('POST', '/creators/overlay/test', {
      session: creator.session,
      body: { amountUsd: 10 },
    })
    await until('the picture is drawn', () =>
      source.evaluate<boolean>(`document.querySelector('.tip__picture')?.naturalWidth === 60`),
    )

    await plant(creator.wallet, 'a scam')
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
    await checkAccessibility(t, page, 'dash-overlay-waiting')
    await page.screenshot({ path: 'screenshots/dash-overlay.png', fullPage: true })
    await page.getByRole('button', { name: /^Show: / }).click()
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Delete words: / }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete words' }).click()
    await page.getByText('Words deleted').waitFor()
    t.is((await world.db('tips').where({ message: 'a scam' })).length, 0)

    const address = (await page.getByText(/\/overlay\/[\w-]{43}$/).textContent()) ?? ''
    await page.getByRole('button', { name: 'Make a new address' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Make a new address' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await preview.locator('article.tip').waitFor()
    t.not(await page.getByText(/\/overlay\/[\w-]{43}$/).textContent(), address)
    await source.getByText('This address has ended.').waitFor()
    t.deepEqual(
      faults.filter((fault) => !fault.includes('404')),
      [],
    )
    await context.close()
  },
)

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
