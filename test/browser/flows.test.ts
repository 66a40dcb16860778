import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { FrameLocator, Page } from 'playwright-core'
import { freePort } from '../../scripts/dev/ports.js'
import { displayNumber } from '../../src/kernel/money.js'
import {
  createEmbedSession,
  phone,
  prepareVisit,
  useBrowser,
  type Visit,
} from '../helpers/browser/browser.js'
import { assertBecomes, chooseRadio } from '../helpers/browser/on-page.js'
import { payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { listTips, readTipRow } from '../helpers/make/tips.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test)
/** Whole tips, each checked through the API at the end. The tests are serial: each has the browser to itself. */

interface SdkEvent {
  readonly tokenSymbol: string
  readonly amountRaw: number
  readonly sender: string
}

/** The creator has exactly this tip, in the list and as an event. */
async function assertTipped(
  t: ExecutionContext,
  { embedder, supporter }: Visit,
  { symbol, message = null }: { symbol: string; message?: string | null },
): Promise<void> {
  const { world } = open()
  const tips = await listTips(world, embedder.wallet)
  t.is(tips.length, 1)
  t.like(tips[0], { tokenSymbol: symbol, status: 'confirmed', sender: supporter.wallet, message })
  t.true(Math.abs((tips[0]?.valueUsd ?? 0) - 5) < 0.01)
  const path = `/sdk/events?creatorId=${embedder.id}`
  const { body } = await world.request<{ events: SdkEvent[] }>('GET', path, { bearer: embedder.apiKey })
  t.like(body.events, [{ tokenSymbol: symbol, sender: supporter.wallet }])
}

/** A page of another site that follows docs/integrating.md. */
function hostPage({ embedUrl }: Pick<Visit, 'embedUrl'>): string {
  const script = new URL('/embed.js', embedUrl)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
<body><h1>Shop</h1><div id="tips"></div>
<script type="module">
  import { mount } from '${script}'
  window.heard = []
  const record = (message) => window.heard.push(message)
  window.checkout = mount(document.getElementById('tips'), {
    embedUrl: '${embedUrl}',
    title: 'Tip Ada',
    onReady: record, onStarted: record, onSubmitted: record, onCompleted: record, onFailed: record, onExpired: record,
  })
</script>`
}

const heard = (page: Page): Promise<{ type: string }[]> => page.evaluate('heard')
const bareFrame = ({ embedUrl }: Pick<Visit, 'embedUrl'>): string =>
  `<!doctype html><html lang="en"><title>Shop</title><body><iframe title="Tip Ada" src="${embedUrl}" width="420" height="640"></iframe>`

async function tipIn(frame: FrameLocator | Page, symbol: string, message = ''): Promise<void> {
  if (message !== '') await frame.getByRole('textbox', { name: /^Message/ }).fill(message)
  await chooseRadio(frame, symbol)
  await frame.getByRole('button', { name: `Tip $5.00 with ${symbol}` }).click()
}

async function payIn(frame: FrameLocator | Page): Promise<void> {
  await frame.getByRole('button', { name: /^Test Wallet/ }).click()
  await frame.getByRole('button', { name: 'Approve in Test Wallet' }).click()
  await frame.getByRole('heading', { name: /^Thank you! Ada Lovelace has received/ }).waitFor()
}

/** The path of the checkout in the frame, which differs for each session. Clicks in the old page are lost. */
const sessionIn = (page: Page) =>
  page
    .frames()
    .map((frame) => frame.url().split('#')[0])
    .find((url) => url?.includes('/embed/'))

async function otherSession(page: Page, former: string | undefined): Promise<void> {
  await until('another session is in the frame', () => ![undefined, former].includes(sessionIn(page)))
}

for (const symbol of ['SOL', 'USDC'])
  test.serial(`a ${symbol} tip through a wallet in the frame`, async (t) => {
    const one = await prepareVisit(open())
    await one.page.goto(open().site.serve(bareFrame(one)))
    const frame = one.page.frameLocator('iframe')
    await tipIn(frame, symbol, 'for the album')
    await payIn(frame)
    await assertTipped(t, one, { symbol, message: 'for the album' })
    t.deepEqual(one.faults, [])
    await one.context.close()
  })

test.serial('a swapped tip through a wallet in the frame: SOL is paid, USDC arrives', async (t) => {
  const one = await prepareVisit(open(), { settings: { autoConvertUsdc: true } })
  await one.page.goto(open().site.serve(bareFrame(one)))
  const frame = one.page.frameLocator('iframe')
  const answered = one.page.waitForResponse('**/sdk/tip')
  await tipIn(frame, 'SOL', 'for the album')
  await payIn(frame)
  const { intentId, provider, quote } = await (await answered).json()
  t.is(provider, 'aggregator-ultra')
  const least = displayNumber(BigInt(quote.outAmount), 6)
  const [tip, ...others] = await listTips(open().world, one.embedder.wallet)
  t.like(tip, {
    tokenSymbol: 'USDC',
    status: 'confirmed',
    sender: one.supporter.wallet,
    message: 'for the album',
  })
  t.true((tip?.receivedAmount ?? 0) >= least, `${tip?.receivedAmount} of ${least}`)
  t.true(least > 4.8 && least < 5, String(least))
  t.deepEqual(others, [])
  t.like(await readTipRow(open().world, tip?.signature ?? ''), { intent_id: intentId })
  t.deepEqual(one.faults, [])
  await one.context.close()
})

for (const [how, autoConvertUsdc, symbol] of [
  ['tip', false, 'SOL'],
  ['swapped tip', true, 'USDC'],
] as const)
  test.serial(`a ${how} whose wallet adds its own guard instruction before signing`, async (t) => {
    const one = await prepareVisit(open(), { settings: { autoConvertUsdc }, wallet: { mode: 'tamper' } })
    await one.page.goto(open().site.serve(bareFrame(one)))
    const frame = one.page.frameLocator('iframe')
    const answered = one.page.waitForResponse('**/sdk/tip')
    const sending = one.page.waitForRequest((request) => /sendTransaction/.test(request.postData() ?? ''))
    await tipIn(frame, 'SOL', 'for the album')
    await payIn(frame)
    const { intentId, transaction: issued } = await (await answered).json()
    const [sent] = (await sending).postDataJSON().params
    t.deepEqual(
      [issued, sent].map((text) => Buffer.from(text, 'base64').includes('guard')),
      [false, true],
    )
    const tips = await listTips(open().world, one.embedder.wallet)
    t.like(tips, [
      { tokenSymbol: symbol, status: 'confirmed', sender: one.supporter.wallet, message: 'for the album' },
    ])
    const { signature = '' } = tips[0] ?? {}
    t.like(await readTipRow(open().world, signature), { intent_id: intentId })
    t.deepEqual(one.faults, [])
    await one.context.close()
  })

test.serial('a tip through a wallet of the embedding page, relayed by embed.js', async (t) => {
  const one = await prepareVisit(open(), { wallet: { topOnly: true, lateMs: 400 } })
  await one.page.goto(open().site.serve(hostPage(one)))
  const frame = one.page.frameLocator('iframe')
  await tipIn(frame, 'USDC')
  t.is(await one.page.evaluate('testWallet.asked'), 0)
  await one.page.evaluate("checkout.setTheme('dark')")
  await frame.locator('html[data-theme=dark]').waitFor()
  await one.page.evaluate("testWallet.mode = 'reject'")
  await frame.getByRole('button', { name: /^Test Wallet/ }).click()
  await frame.getByText('You declined in your wallet.').waitFor()
  await one.page.evaluate("testWallet.mode = 'approve'")
  await payIn(frame)
  await assertTipped(t, one, { symbol: 'USDC' })
  await until('the end is heard', async () => (await heard(one.page)).at(-1)?.type === 'tip.completed')
  const messages = await heard(one.page)
  t.deepEqual(
    messages.map(({ type }) => type),
    ['ready', 'tip.failed', 'tip.started', 'tip.submitted', 'tip.completed'],
  )
  t.like(messages[1], { code: 'rejected', retryable: true })
  t.like(messages[4], {
    method: 'wallet',
    amount: 5,
    receivedAmount: 4.9,
    tokenSymbol: 'USDC',
    amountUsd: 5,
  })
  t.false(JSON.stringify(messages).includes(one.sessionToken))
  await until('the frame is as high as its content', async () => {
    const { height = 0 } = (await one.page.locator('iframe').boundingBox()) ?? {}
    const { height: content = 0 } = (await frame.locator('body').boundingBox()) ?? {}
    return content > 300 && Math.abs(height - content) < 3
  })
  const former = sessionIn(one.page)
  await frame.getByRole('button', { name: 'Tip again' }).click()
  await until(
    'the page is asked for a new session',
    async () => (await heard(one.page)).at(-1)?.type === 'tip.expired',
  )
  // It opens none, so the frame does.
  await otherSession(one.page, former)
  await frame.getByRole('button', { name: 'Tip $5.00 with USDC' }).waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('<tip-checkout> works without own script and shows a new session', async (t) => {
  const one = await prepareVisit(open())
  const again = await createEmbedSession(open().world, one.embedder, open().site.origin)
  const script = new URL('/embed.js', one.embedUrl)
  const element = `<tip-checkout embed-url="${one.embedUrl}" title="Tip Ada"></tip-checkout>`
  await one.page.goto(
    open().site.serve(
      `<!doctype html><html lang="en"><title>Shop</title><script type="module" src="${script}"></script>${element}`,
    ),
  )
  await one.page.evaluate(
    "window.heard = []; for (const type of ['completed', 'expired']) document.querySelector('tip-checkout').addEventListener(type, (event) => heard.push(event.detail))",
  )
  const frame = one.page.frameLocator('iframe')
  await tipIn(frame, 'SOL')
  await payIn(frame)
  await frame.getByRole('button', { name: 'Tip again' }).click()
  await until('the page is asked for a new session', async () => (await heard(one.page)).length === 2)
  const former = sessionIn(one.page)
  await one.page.evaluate(
    `document.querySelector('tip-checkout').setAttribute('embed-url', '${again.embedUrl}')`,
  )
  await otherSession(one.page, former)
  await tipIn(frame, 'USDC')
  await payIn(frame)
  t.is((await listTips(open().world, one.embedder.wallet)).length, 2)
  t.is(await one.page.locator('iframe').getAttribute('title'), 'Tip Ada')
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('a tip in a new window, whose result the frame shows', async (t) => {
  const one = await prepareVisit(open(), { wallet: { topOnly: true } })
  await one.page.goto(open().site.serve(bareFrame(one)))
  const frame = one.page.frameLocator('iframe')
  await tipIn(frame, 'SOL', 'from a window')
  const opened = one.context.waitForEvent('page')
  await frame.getByRole('button', { name: 'Continue in a new window' }).click()
  const popup = await opened
  await frame.getByRole('heading', { name: 'Continue in the other window.' }).waitFor()
  const message = popup.getByRole('textbox', { name: /^Message/ })
  await assertBecomes(t, () => message.inputValue(), 'from a window')
  await popup.getByRole('button', { name: 'Tip $5.00 with SOL' }).click()
  await payIn(popup)
  await frame.getByRole('heading', { name: /^Thank you! Ada Lovelace has received/ }).waitFor()
  await assertTipped(t, one, { symbol: 'SOL', message: 'from a window' })
  t.false(popup.url().includes(one.sessionToken))
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('a tip on a phone, continued with the one-time code of a link', async (t) => {
  const one = await prepareVisit(open(), { wallet: 'none' })
  await one.page.goto(open().site.serve(bareFrame(one)))
  const frame = one.page.frameLocator('iframe')
  await tipIn(frame, 'USDC')
  await frame.getByRole('button', { name: 'Use your phone' }).click()
  const href = await frame.getByRole('link', { name: 'Open in Phantom' }).getAttribute('href')
  const [, encoded = '', ref] =
    /^https:\/\/phantom\.app\/ul\/browse\/([^?]+)\?ref=(.+)$/.exec(href ?? '') ?? []
  t.is(decodeURIComponent(ref ?? ''), open().world.url)
  t.false(decodeURIComponent(encoded).includes(one.sessionToken))
  // The wallet's own browser: another device, where the wallet is.
  const other = await prepareVisit(open(), { embedder: one.embedder, viewport: phone })
  await other.page.goto(decodeURIComponent(encoded))
  await other.page.getByRole('button', { name: 'Tip $5.00 with USDC' }).click()
  await payIn(other.page)
  await frame.getByRole('heading', { name: /^Thank you! Ada Lovelace has received/ }).waitFor()
  await assertTipped(t, { ...one, supporter: other.supporter }, { symbol: 'USDC' })
  // A code works once.
  const third = await prepareVisit(open(), { embedder: one.embedder })
  await third.page.goto(decodeURIComponent(encoded))
  await third.page.getByRole('heading', { name: 'This tip link has expired.' }).waitFor()
  for (const { context, faults } of [one, other, third]) {
    t.deepEqual(faults, [])
    await context.close()
  }
})

test.serial('a tip by a Solana Pay request, whose result the frame shows', async (t) => {
  const one = await prepareVisit(open(), { wallet: 'none' })
  const { world } = open()
  await one.page.goto(open().site.serve(bareFrame(one)))
  const frame = one.page.frameLocator('iframe')
  await tipIn(frame, 'SOL')
  await frame.getByRole('button', { name: 'Use your phone' }).click()
  // Pages offer the request only over https, so the test makes its code itself.
  const tip = { amount: 5, inputTokenMint: 'So11111111111111111111111111111111111111112' }
  const { body } = await world.request<{ code: string }>('POST', '/sdk/handoff', {
    bearer: one.sessionToken,
    body: tip,
  })
  const link = `/pay/${body.code}`
  t.like((await world.request<{ label: string }>('GET', link)).body, { label: 'Ada Lovelace' })
  const account = one.supporter.wallet
  const asked = await world.request<{ transaction: string }>('POST', link, { body: { account } })
  const txSignature = one.supporter.pay(asked.body.transaction)
  // The wallet reports no signature. The service would find the payment by itself; reporting it here is faster.
  const claim = {
    creatorWallet: one.embedder.wallet,
    senderWallet: account,
    tipAmount: 33_333_333,
    txSignature,
  }
  const { intents } = (
    await world.request<{ intents: { intentId: string }[] }>('GET', '/sdk/intents', {
      bearer: one.sessionToken,
    })
  ).body
  await world.request('POST', '/chain/tips/create', { body: { ...claim, intentId: intents[0]?.intentId } })
  await frame.getByRole('heading', { name: /^Thank you! Ada Lovelace has received/ }).waitFor()
  await assertTipped(t, one, { symbol: 'SOL' })
  await one.context.close()
})

test.serial('a wallet that sends and then fails: the page does not offer to pay again', async (t) => {
  const one = await prepareVisit(open(), { wallet: { features: ['signAndSendTransaction'] } })
  await one.page.goto(one.embedUrl)
  await tipIn(one.page, 'SOL')
  await one.page.getByRole('button', { name: /^Test Wallet/ }).click()
  await one.page.getByRole('heading', { name: 'Check and approve' }).waitFor()
  await one.page.evaluate("testWallet.mode = 'lost'")
  await one.page.getByRole('button', { name: 'Approve in Test Wallet' }).click()
  await one.page.getByRole('heading', { name: 'Sent. Waiting for the network.' }).waitFor()
  t.is(await one.page.getByRole('button', { name: /again/i }).count(), 0)
  await one.context.close()
})

test.serial('a tip that is under way when the page is left is shown after a reload', async (t) => {
  const one = await prepareVisit(open())
  await one.page.route('**/sdk/intents/**', () => undefined)
  await one.page.goto(one.embedUrl)
  await tipIn(one.page, 'SOL')
  await one.page.getByRole('button', { name: /^Test Wallet/ }).click()
  await one.page.getByRole('button', { name: 'Approve in Test Wallet' }).click()
  await one.page.getByRole('heading', { name: 'Sent. Waiting for the network.' }).waitFor()
  await one.page.unroute('**/sdk/intents/**')
  await one.page.reload()
  await one.page.getByRole('heading', { name: /^Thank you!/ }).waitFor()
  await assertTipped(t, one, { symbol: 'SOL' })
  await one.context.close()
})

test.serial('the site of docs/integrating.md works as it is written there', async (t) => {
  const { world } = open()
  const one = await prepareVisit(open())
  const [servicePort, shopPort] = [await freePort(), await freePort()]
  const publicUrl = `http://127.0.0.1:${servicePort}`
  const program = /```js\n(.*?)```/s.exec(readFileSync('docs/integrating.md', 'utf8'))?.[1] ?? ''
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'shop.mjs'), program)
  start(t, ['dist/src/web.js'], { ...world.env, PORT: String(servicePort), PUBLIC_URL: publicUrl })
  const { apiKey: API_KEY, id: CREATOR } = one.embedder
  start(t, [join(folder, 'shop.mjs')], { API_KEY, CREATOR, TIPPING: publicUrl, PORT: String(shopPort) })
  for (const url of [`${publicUrl}/health`, `http://localhost:${shopPort}`])
    await until(`${url} answers`, () => answers(url))
  await one.page.goto(`http://localhost:${shopPort}`)
  const frame = one.page.frameLocator('iframe')
  await tipIn(frame, 'SOL')
  await payIn(frame)
  const former = sessionIn(one.page)
  await frame.getByRole('button', { name: 'Tip again' }).click()
  await otherSession(one.page, former)
  await tipIn(frame, 'USDC')
  await payIn(frame)
  t.is((await listTips(world, one.embedder.wallet)).length, 2)
  t.deepEqual(one.faults, [])
  await one.context.close()
})

const answers = (url: string) =>
  fetch(url, { headers: { connection: 'close' } }).then(
    async (response) => (await response.text()) !== '',
    () => false,
  )

function start(t: ExecutionContext, args: readonly string[], env: Record<string, string>): void {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
}

/** Pays on the provider's page in the tab that the press has opened, or when the answer took too long for that, by the link. */
async function payThere({ context }: Visit, frame: FrameLocator, opened: Page): Promise<void> {
  const other = opened.isClosed() ? context.waitForEvent('page') : undefined
  if (other !== undefined) await frame.getByRole('link', { name: 'Open the payment page' }).click()
  const tab = (await other) ?? opened
  await tab.getByRole('button', { name: 'Pay' }).click()
  await tab.getByRole('heading', { name: 'You can close this tab.' }).waitFor()
  await tab.close()
}

for (const [way, fiatCollection] of [
  ['bank transfer', 'bank_transfer'],
  ['the provider’s page', 'checkout'],
] as const)
  test.serial(`a tip in naira by ${way}`, async (t) => {
    const { world } = open()
    const one = await prepareVisit(open(), { settings: { fiatCollection }, wallet: 'none' })
    await one.page.goto(open().site.serve(hostPage(one)))
    const frame = one.page.frameLocator('iframe')
    await frame.getByRole('textbox', { name: /^Message/ }).fill('Well done')
    await frame.getByRole('tab', { name: /^Naira/ }).click()
    await frame.getByRole('textbox', { name: /^Your name/ }).fill('Tobi')
    const answered = one.page.waitForResponse('**/payments/fiat/intent')
    const opened = fiatCollection === 'checkout' ? one.context.waitForEvent('page') : undefined
    await frame.getByRole('button', { name: 'Pay ₦7,600.00' }).click()
    const { intentId } = await (await answered).json()
    await frame.getByRole('heading', { name: /^(Send exactly|Finish paying)/ }).waitFor()
    if (opened !== undefined) await payThere(one, frame, await opened)
    else payFiatIntent(world, intentId)
    await settleIntentNow(world, intentId)
    await frame.getByRole('heading', { name: 'Thank you! ₦7,600.00 received.' }).waitFor()
    const tips = await listTips(world, one.embedder.id)
    t.like(tips, [
      { signature: intentId, status: 'confirmed', sender: 'Tobi', message: 'Well done', tokenSymbol: 'FIAT' },
    ])
    await until('the end is heard', async () => (await heard(one.page)).at(-1)?.type === 'tip.completed')
    const completed = (await heard(one.page)).at(-1)
    const method = fiatCollection === 'checkout' ? 'card' : 'bank_transfer'
    t.like(completed, {
      type: 'tip.completed',
      intentId,
      method,
      amount: 7600,
      tokenSymbol: 'NGN',
      receivedAmount: 4.75,
    })
    t.deepEqual(one.faults, [])
    await one.context.close()
  })
