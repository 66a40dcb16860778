import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { ensureChromium } from '../bootstrap/system-packages.mjs'
import { waitUntil } from '../dev/wait-until.js'
import { openStage, type Stage } from '../faults/world/stage.js'
import { type ApiAnswer, type ApiRequest, register, requestOnce } from '../kit/client.js'
import { type BenchOptions, type Column, measureRounds, outcomeOf, section } from './measurement.js'
import { onServers } from './servers.js'

const content = {
  handle: 'ada_bench',
  words: 'I sing on Fridays. Thank you for every tip, however small it is.',
  links: [{ title: 'My songs', url: 'https://songs.example/' }],
  goal: { title: 'A microphone', amountUsd: 100 },
}
const walletMs = 60_000
const usableMs = 60_000
/** A cheap phone on a bad network. */
const slowdown = 4
const network = { latency: 400, bytesPerSecond: 400_000 / 8 }

/** Pages for payers. */
type Name = 'public page' | 'public page, Naijá' | 'checkout'
type Addresses = Readonly<Record<Name, string>>

interface Measured {
  readonly usableMs: number
  readonly paintMs: number
  readonly bytes: number
  readonly requests: number
}

const columns: Column<Name, Measured>[] = [
  { head: 'usable s', digits: 2, of: ({ usableMs }) => usableMs / 1000, better: 'lower' },
  { head: 'painted s', digits: 2, of: ({ paintMs }) => paintMs / 1000 },
  { head: 'KB', digits: 1, of: ({ bytes }) => bytes / 1024, better: 'lower' },
  { head: 'requests', digits: 0, of: ({ requests }) => requests },
]

/** How long a stranger on a cheap phone waits for a page of which nothing is cached. */
export async function benchPages({ rounds = 5 }: BenchOptions) {
  await ensureChromium()
  return onServers(async (servers) => {
    const stage = await openStage(servers.defer, { ...servers, namespace: 'pages' }, 1, {
      creators: 0,
      workers: [{ names: ['provisioner'] }],
    })
    const addresses = await createPages(stage)
    const browser = await chromium.launch({
      executablePath: process.env['CHROMIUM'] || '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    })
    servers.defer(() => browser.close())
    const names = Object.keys(addresses) as Name[]
    // The server's and the browser's first page take longer than all others.
    for (const name of names) await measure(browser, addresses[name])
    const results = await measureRounds(names, rounds, (name) => measure(browser, addresses[name]))
    return outcomeOf(
      results,
      [section('page', results, columns, { page: 'public page', checkout: 'checkout' })],
      `one load with ${slowdown} times less CPU, 400 kbit/s and ${network.latency} ms`,
    )
  })
}

async function createPages({ url, db }: Stage): Promise<Addresses> {
  const { cookie, userId } = await register(url, 'ada@bench.example')
  const isReady = async (): Promise<boolean> =>
    (await db.raw('select public_key from wallets where user_id = ?', [userId])).rows[0].public_key !== null
  if (!(await waitUntil(isReady, walletMs))) throw new Error('the wallet was not made')
  await send(url, ['PATCH', '/creators/page', content], { cookie })
  await send(url, ['PUT', '/creators/domains', { domains: ['shop.example'] }], { cookie })
  const { apiKey } = await send(url, ['POST', '/creators/api-keys', {}], { cookie })
  const session = { creatorId: userId, originUrl: 'https://shop.example' }
  const authorization = `Bearer ${apiKey}`
  const { config } = await send(url, ['POST', '/sdk/init', session], { authorization })
  const { embedUrl } = config as { embedUrl: string }
  const page = `${url}/@${content.handle}`
  return { 'public page': page, 'public page, Naijá': `${page}?lang=pcm`, checkout: embedUrl }
}

async function send(
  url: string,
  request: ApiRequest,
  headers: Record<string, string>,
): Promise<ApiAnswer['body']> {
  const { status, body } = await requestOnce(url, request, headers)
  if (status !== 200) throw new Error(`${request[1]} answered ${status} ${JSON.stringify(body)}`)
  return body
}

/**
 * Notes when the button that pays can be pressed: it is there and not busy, the page is painted with it, and the script is idle, so
 * that a tap is answered at once.
 */
function noteUsable(): void {
  const look = (): void => {
    if (document.querySelector('button[type=submit]:not([aria-disabled=true])') === null) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => Object.assign(globalThis, { usableAt: performance.now() })))
  }
  const observer = new MutationObserver(look)
  observer.observe(document, { subtree: true, childList: true, attributes: true })
}

/** Loads the page in a browser that knows nothing of it, and presses the button. */
async function measure(browser: Browser, address: string): Promise<Measured> {
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    isMobile: true,
    hasTouch: true,
    locale: 'en-GB',
    timezoneId: 'Africa/Lagos',
  })
  try {
    const page = await context.newPage()
    await page.addInitScript(noteUsable)
    const traffic = await slowDown(await context.newCDPSession(page))
    await page.goto(address, { waitUntil: 'commit' })
    await page.waitForFunction(() => 'usableAt' in globalThis, undefined, { polling: 500, timeout: usableMs })
    const times = await page.evaluate<Pick<Measured, 'usableMs' | 'paintMs'>>(
      `({ usableMs: usableAt, paintMs: performance.getEntriesByName('first-contentful-paint')[0].startTime })`,
    )
    const measured = { ...times, ...traffic() }
    await assertAnswers(page)
    return measured
  } finally {
    await context.close()
  }
}

/** Returns a function that counts what has arrived since. */
async function slowDown(devtools: CDPSession): Promise<() => Pick<Measured, 'bytes' | 'requests'>> {
  let [bytes, requests] = [0, 0]
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
    requests += 1
  })
  await devtools.send('Network.enable')
  const { latency, bytesPerSecond } = network
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  return () => ({ bytes, requests })
}

/** A press leads on from the form. */
async function assertAnswers(page: Page): Promise<void> {
  await page.locator('button[type=submit]').tap()
  await page.locator('button[type=submit]').waitFor({ state: 'detached' })
}
