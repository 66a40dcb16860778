import { Buffer } from 'node:buffer'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import type { BrowserContext } from 'playwright-core'
import { loadPages } from '../../src/http/pages/built-pages.js'
import { collectPageErrors, prepareVisit, useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import {
  assertBecomes,
  chooseRadio,
  clickButton,
  heading,
  waitForAnnouncement,
  waitForHeading,
} from '../helpers/browser/on-page.js'
import { registerCreator } from '../helpers/make/creators.js'
import { payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)

const kib = 1024

/** Compressed bytes of everything a page loads before it can be used. */
function firstLoad(name: string): number {
  const pages = loadPages()
  const { script, preloads, styles } = pages.files(name)
  const assets = [script, ...preloads, ...styles].map((path) =>
    pages.assets.get(path.replace('/assets/', '')),
  )
  return assets.reduce(
    (sum, asset) => sum + gzipSync(asset?.identity ?? Buffer.alloc(0), { level: 9 }).length,
    0,
  )
}

test('the checkout and embed.js stay within their size limits', (t) => {
  const sizes = {
    checkout: firstLoad('checkout'),
    embed: gzipSync(loadPages().embedScript.identity, { level: 9 }).length,
  }
  t.log(sizes)
  t.true(sizes.checkout <= 42 * kib, `${sizes.checkout} bytes`)
  t.true(sizes.embed <= 3 * kib, `${sizes.embed} bytes`)
})

test('assets are sent in the accepted encoding and cached forever, and unknown ones are 404', async (t) => {
  const { url } = open().world
  const { script } = loadPages().files('checkout')
  for (const [asked, given] of [
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ] as const) {
    const answer = await fetch(url + script, { headers: { 'accept-encoding': asked, connection: 'close' } })
    t.is(answer.headers.get('content-encoding'), given)
    t.is(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    t.is(answer.headers.get('vary'), 'Accept-Encoding')
    t.is(answer.headers.get('content-type'), 'text/javascript; charset=utf-8')
    t.is(answer.headers.get('x-content-type-options'), 'nosniff')
    const headerBytes = [...answer.headers].reduce((sum, header) => sum + header.join(': \r\n').length, 0)
    t.true(headerBytes < 450, `${headerBytes} bytes of headers`)
    t.true((await answer.text()).includes('https://phantom.app/ul/browse/'))
  }
  for (const path of ['/assets/checkout.js', '/assets/..%2fmanifest.json', '/assets/']) {
    const answer = await fetch(url + path, { headers: { connection: 'close' } })
    t.is(answer.status, 404, path)
    await answer.text()
  }
  const script_ = await fetch(`${url}/embed.js`, { headers: { connection: 'close' } })
  t.is(script_.headers.get('access-control-allow-origin'), '*')
  t.is(script_.headers.get('cross-origin-resource-policy'), 'cross-origin')
  await script_.text()
})

/** The paths that the browser had asked for when it painted the page for the first time. */
const askedBeforePaint = `performance.getEntriesByType('resource')
  .filter(({ startTime }) => startTime < performance.getEntriesByName('first-contentful-paint')[0].startTime)
  .map(({ name }) => new URL(name).pathname)`

test.serial('the checkout is painted after its own files and one answer', async (t) => {
  const one = await prepareVisit(open())
  await one.page.goto(one.embedUrl)
  await heading(one.page, /^Tip /).waitFor()
  const asked = await one.page.evaluate<string[]>(askedBeforePaint)
  const { script, preloads, styles } = loadPages().files('checkout')
  const own = [script, ...preloads, ...styles, '/pay-icon.svg']
  t.deepEqual(
    asked.filter((path) => !own.includes(path)),
    ['/sdk/session'],
  )
  await one.context.close()
})

test.serial('only the site of the session may frame the checkout', async (t) => {
  const one = await prepareVisit(open())
  await one.page.goto('about:blank')
  await one.page.setContent(`<iframe src="${one.embedUrl}"></iframe>`)
  await until('the browser refuses', () => one.page.frames()[1]?.url().startsWith('chrome-error:') ?? false)
  t.is(await one.page.frameLocator('iframe').getByRole('heading', { name: /^Tip / }).count(), 0)
  await one.context.close()
})

test.serial('messages of other windows and origins are ignored', async (t) => {
  const { page, context, embedUrl } = await prepareVisit(open())
  await page.goto(
    open().site.serve(`<!doctype html><html lang="en"><title>Shop</title><div id="tips"></div>
    <iframe name="stranger" srcdoc="<p>an advertisement</p>"></iframe><script type="module">
      import { mount } from '${new URL('/embed.js', embedUrl)}'
      window.heard = []
      window.arrived = []
      addEventListener('message', ({ data }) => window.arrived.push(data.type))
      const onCompleted = ({ type }) => window.heard.push(type)
      window.checkout = mount(document.getElementById('tips'), { embedUrl: '${embedUrl}', title: 'Tip Ada', onCompleted })
    </script>`),
  )
  const frame = page.frameLocator('iframe[title="Tip Ada"]')
  await frame.getByRole('button', { name: /^Tip \$/ }).waitFor()
  const stranger = page.frame('stranger')
  const checkout = page.frames().find((one) => one.url().startsWith(embedUrl.split('#')[0] ?? ''))
  if (stranger === null || checkout === undefined) return t.fail('the frames are missing')

  const paid = `{ source: 'tipping', v: 1, type: 'tip.completed' }`
  await page.evaluate(`window.postMessage(${paid}, '*')`)
  await stranger.evaluate(`parent.postMessage(${paid}, '*')`)
  const says = (type: string) =>
    page.evaluate<string[]>('arrived').then((all) => all.filter((one) => one === type))
  await until('both messages have arrived', async () => (await says('tip.completed')).length === 2)
  t.deepEqual(await page.evaluate('heard'), [])

  await page.evaluate("checkout.setTheme('dark')")
  await frame.locator('html[data-theme=dark]').waitFor()
  await checkout.evaluate(`self.arrived = 0; addEventListener('message', () => { self.arrived += 1 })`)
  const light = `{ source: 'tipping', v: 1, type: 'theme', theme: 'light' }`
  await stranger.evaluate(`for (let n = 0; n < parent.length; n++) parent[n].postMessage(${light}, '*')`)
  await until('the checkout gets the message', async () => (await checkout.evaluate<number>('arrived')) === 1)
  await page.evaluate(
    `document.querySelector('[title="Tip Ada"]').contentWindow.postMessage({ ...${light}, v: 2 }, '*')`,
  )
  await until('and one of another version', async () => (await checkout.evaluate<number>('arrived')) === 2)
  t.is(await frame.locator('html[data-theme=dark]').count(), 1)
  await page.evaluate("checkout.setTheme('light')")
  await frame.locator('html[data-theme=light]').waitFor()
  await context.close()
})

/** Collects the addresses, headers and bodies of all requests. */
function listen(context: BrowserContext) {
  const requests: { url: string; headers: Record<string, string>; body: string }[] = []
  context.on('request', (request) => {
    requests.push({ url: request.url(), headers: request.headers(), body: request.postData() ?? '' })
  })
  return requests
}

test.serial('the session token is in no URL, referrer, message, link or log', async (t) => {
  const { world, site } = open()
  const lines: string[] = []
  const one = await prepareVisit(open(), { wallet: { topOnly: true } })
  const requests = listen(one.context)
  one.context.on('console', (message) => lines.push(message.text()))
  const secret = one.sessionToken.slice('sdk_sess_'.length)
  const script = new URL('/embed.js', one.embedUrl)
  await one.page.goto(
    site.serve(`<!doctype html><html lang="en"><title>Shop</title><div id="tips"></div><script type="module">
      import { mount } from '${script}'
      window.heard = []
      addEventListener('message', ({ data }) => window.heard.push(JSON.stringify(data)))
      window.open_ = (embedUrl) => mount(document.getElementById('tips'), { embedUrl })
    </script>`),
  )
  await one.page.evaluate(
    `new Promise((done) => { const look = () => self.open_ ? done() : requestAnimationFrame(look); look() })`,
  )
  await one.page.evaluate(`open_('${one.embedUrl}')`)
  const frame = one.page.frameLocator('iframe')
  await frame.getByRole('button', { name: /^Tip \$/ }).click()
  await frame.getByRole('button', { name: 'Use your phone' }).click()
  await frame.getByRole('link', { name: 'Open in Phantom' }).waitFor()
  const links = await frame
    .locator('a')
    .evaluateAll((all) => all.map((link) => String(link.getAttribute('href'))))
  await frame.getByRole('button', { name: 'Back' }).click()
  await frame.getByRole('button', { name: /^Tip \$/ }).click()
  await frame.getByRole('button', { name: /^Test Wallet/ }).click()
  await frame.getByRole('button', { name: 'Approve in Test Wallet' }).click()
  await frame.getByRole('heading', { name: /^Thank you!/ }).waitFor()
  const inner = one.page.frames()[1]
  t.false(inner?.url().includes(secret))
  t.false(
    (await inner?.evaluate<string>('document.documentElement.outerHTML + location.href'))?.includes(secret),
  )
  t.false((await one.page.evaluate<string[]>('heard')).join('\n').includes(secret))
  t.false([...links, ...lines].join('\n').includes(secret))
  t.true(links.length > 1)
  const carrying = requests.filter((request) => JSON.stringify(request).includes(secret))
  t.true(carrying.length > 3)
  for (const { url, headers, body } of carrying) {
    t.true(url.startsWith(`${world.url}/sdk/`), url)
    t.false(`${url}${body}${headers['referer'] ?? ''}`.includes(secret))
    t.is(headers['authorization'], `Bearer ${one.sessionToken}`)
  }
  for (const { url, headers } of requests.filter((request) => request.url.startsWith(world.url)))
    if (!url.includes('/embed')) t.falsy(headers['referer'], url)
  await one.context.close()
})

const hostile = [
  '<script>self.hacked=1</script>',
  '<img src=x onerror="self.hacked=1">',
  '"><svg onload=self.hacked=1>',
  "'-self.hacked=1-'",
  '{{constructor.constructor("self.hacked=1")()}}',
  '</title></style></textarea><script>self.hacked=1</script>',
  'javascript:self.hacked=1',
  '\u202eevil\u202c \u2066x',
]

test.serial('hostile names, messages and wallet errors stay text', async (t) => {
  const { world } = open()
  const embedder = await registerEmbedder(world, { fiatCollection: 'bank_transfer' })
  const text = hostile.slice(0, 4).join(' ').slice(0, 100)
  await world.db('users').where({ id: embedder.id }).update({ name: text })
  const one = await prepareVisit(open(), { embedder, tokens: ['USDC'], wallet: { name: text } })
  await one.page.goto(one.embedUrl)
  await heading(one.page, `Tip ${text}`).waitFor()
  await one.page.getByRole('textbox', { name: /^Message/ }).fill(hostile.join('\n'))
  await chooseRadio(one.page, 'USDC')
  await clickButton(one.page, 'Tip $5.00 with USDC')
  await one.page.getByRole('list').getByRole('button').click()
  await heading(one.page, 'Check and approve').waitFor()
  await one.page.evaluate("testWallet.mode = 'broken'")
  await one.page.getByRole('button', { name: /^Approve in/ }).click()
  await heading(one.page, 'Not sent.').waitFor()
  await one.page.getByText('Details').click()
  await one.page.getByText('<img src=x onerror=alert(1)> Something went wrong').waitFor()
  await clickButton(one.page, 'Try again')
  await one.page.evaluate("testWallet.mode = 'approve'")
  await one.page.getByRole('button', { name: /^Approve in/ }).click()
  await heading(one.page, /^Thank you!/).waitFor()
  await one.page
    .getByText(hostile[0] ?? '')
    .first()
    .waitFor()
  t.is(await one.page.evaluate('self.hacked'), undefined)
  t.is(await one.page.locator('script:not([src]), img[src="x"], svg[onload]').count(), 0)
  t.true(
    await one.page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
  )
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('trusted types refuse to turn text into markup or script', async (t) => {
  const one = await prepareVisit(open())
  await one.page.goto(one.embedUrl)
  await heading(one.page, /^Tip /).waitFor()
  for (const attack of [
    "document.body.innerHTML = '<b>x</b>'",
    "document.createElement('script').text = 'self.hacked = 1'",
    "trustedTypes.createPolicy('mine', {})",
    "document.write('x')",
  ])
    await t.throwsAsync(one.page.evaluate(attack), undefined, attack)
  t.is(await one.page.evaluate('self.hacked'), undefined)
  await one.context.close()
})

test.serial('a crypto tip works by keyboard alone, and the focus is never lost', async (t) => {
  const one = await prepareVisit(open())
  const { page } = one
  await page.goto(one.embedUrl)
  await heading(page, /^Tip /).waitFor()
  const focused = () =>
    page.evaluate<string>(
      "document.activeElement.textContent || document.activeElement.getAttribute('name') || document.activeElement.tagName",
    )
  for (const key of ['Tab', 'Tab', 'ArrowRight']) await page.keyboard.press(key)
  await assertBecomes(t, () => page.getByRole('radio', { name: '$10' }).isChecked(), true)
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Tab')
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowRight')
  await assertBecomes(t, focused, 'Naira: card/bank')
  await page.keyboard.press('ArrowLeft')
  await assertBecomes(t, focused, 'Crypto wallet')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Keyboard')
  await assertBecomes(t, () => page.getByRole('textbox', { name: /^Your name/ }).inputValue(), 'Keyboard')
  await page.keyboard.press('Tab')
  await assertBecomes(t, focused, 'Tip $5.00 with SOL')
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Choose your wallet')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Check and approve')
  await page.keyboard.press('Tab')
  await assertBecomes(t, focused, 'Approve in Test Wallet')
  await page.keyboard.press('Enter')
  await waitForHeading(page, /^Thank you!/)
  await page.getByText('by keyboard').waitFor()
  await waitForAnnouncement(page, /^Thank you!/)
  await one.context.close()
})

test.serial('a naira tip works by keyboard alone', async (t) => {
  const { world } = open()
  const one = await prepareVisit(open(), { settings: { fiatCollection: 'bank_transfer' } })
  const { page } = one
  await page.goto(one.embedUrl)
  await heading(page, /^Tip /).waitFor()
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'ArrowRight']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Pay ₦7,600.00' }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.type('Tobi')
  const answered = page.waitForResponse('**/payments/fiat/intent')
  await page.keyboard.press('Enter')
  const { intentId } = await (await answered).json()
  await heading(page, 'Send exactly ₦7,600.00').waitFor()
  payFiatIntent(world, intentId)
  await settleIntentNow(world, intentId)
  await heading(page, 'Thank you! ₦7,600.00 received.').waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('the manual copies its samples and finds a field without asking the server', async (t) => {
  const { browser, world } = open()
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const faults = collectPageErrors(context)
  const page = await context.newPage()
  await page.goto(`${world.url}/docs`)
  await page.getByRole('button', { name: 'Search', exact: true }).waitFor()
  await context.setOffline(true)
  const copy = page.getByRole('button', { name: 'Copy: Your terminal' }).first()
  await copy.click()
  await assertBecomes(t, () => copy.textContent(), 'Copied')
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  t.true(copied.startsWith('curl -s -c jar.txt') && copied.endsWith('"name":"Ada Obi"}\''), copied)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('lastvalid')
  const found = page.getByRole('dialog', { name: 'Search the manual' }).getByRole('link')
  await assertBecomes(
    t,
    async () => /lastValidBlockHeight/.test((await found.first().textContent()) ?? ''),
    true,
  )
  const target = await found.first().getAttribute('href')
  await page.keyboard.press('Enter')
  await assertBecomes(t, () => page.evaluate('location.hash'), target)
  await assertBecomes(t, () => page.evaluate("'#' + document.activeElement.id"), target)
  for (const [query, place] of [
    ['webhook', '#webhooks'],
    ['php', '#webhooks-verify'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(query)
    await page.getByRole('dialog').locator(`a[href="${place}"]`).waitFor()
    await page.keyboard.press('Escape')
  }
  await page.keyboard.press('Control+k')
  await page.keyboard.type('<img src=x onerror=self.hacked=1>')
  await page.getByText('Nothing found').waitFor()
  await page.keyboard.press('Escape')
  t.is(await page.getByRole('dialog').count(), 0)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('the manual fills its samples with the values of who is signed in', async (t) => {
  const { browser, world } = open()
  const { user, wallet, session } = await registerCreator(world)
  await world.request('PATCH', '/creators/page', { session, body: { handle: 'ada_reads' } })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${world.url}/docs`)
  await clickButton(page, 'Use my values')
  await page.getByRole('link', { name: 'Sign in first' }).waitFor()
  await context.addCookies([{ name: 'session', value: session, url: world.url, httpOnly: true }])
  await page.reload()
  await clickButton(page, 'Use my values')
  await page.getByText('Your values are in').waitFor()
  const samples = (await page.locator('.code code').allTextContents()).join()
  for (const value of [
    `"creatorId":"${user.id}"`,
    `wallet=${wallet}`,
    '/@ada_reads/qr.svg',
    'Bearer <apiKey>',
  ])
    t.true(samples.includes(value), value)
  t.false(/<user[.]id>|<wallet>|<handle>/.test(samples))
  await context.close()
})

test.serial('the start page, a missing page and the manual are accessible', async (t) => {
  const { browser, world } = open()
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  for (const [path, name] of [
    ['/', 'start-page'],
    ['/nowhere', 'missing-page'],
    ['/docs', 'manual'],
  ] as const) {
    await page.goto(`${world.url}${path}`)
    await checkAccessibility(t, page, name)
  }
  await page.setViewportSize({ width: 768, height: 900 })
  await page.evaluate('document.documentElement.style.fontSize = "200%"')
  const overflows = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  t.false(await page.evaluate<boolean>(overflows), 'tables scroll in themselves')
  await page.evaluate('document.documentElement.style.fontSize = ""')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('withdraw')
  await checkAccessibility(t, page, 'manual-search')
  await context.close()
})
