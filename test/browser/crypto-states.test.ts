import { PublicKey, SystemProgram } from '@solana/web3.js'
import test from 'ava'
import type { Page, Route } from 'playwright-core'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { decodeBase58 } from '../../src/kernel/base58.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { createFinderBatch } from '../../src/tips/record/find-unreported.js'
import { prepareVisit, useBrowser, type Visit, type VisitOptions } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import {
  assertScreen,
  chooseRadio,
  clickButton,
  heading,
  waitForAnnouncement,
} from '../helpers/browser/on-page.js'
import { ageSession } from '../helpers/make/sdk.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { listTips } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'

const open = useBrowser(test)
/** Every state of the crypto tab, reached through the page. The tests are serial: each has the browser to itself. */

/** Opens the checkout at the top level. */
async function openCheckout(options: VisitOptions = {}): Promise<Visit> {
  const one = await prepareVisit(open(), options)
  await one.page.goto(one.embedUrl)
  await heading(one.page, /^Tip /).waitFor()
  return one
}

async function chooseToken(page: Page, symbol: string): Promise<void> {
  await chooseRadio(page, symbol)
  await clickButton(page, `Tip $5.00 with ${symbol}`)
}

/** Goes on to the list of wallets. */
async function toWallets(options: VisitOptions = {}, symbol = 'SOL'): Promise<Visit> {
  const one = await openCheckout(options)
  await chooseToken(one.page, symbol)
  return one
}

/** Goes on to the review. */
async function toReview(options: VisitOptions = {}, symbol = 'SOL'): Promise<Visit> {
  const one = await toWallets(options, symbol)
  await clickButton(one.page, /Test Wallet/)
  await heading(one.page, 'Check and approve').waitFor()
  return one
}

const setMode = (page: Page, mode: string) => page.evaluate(`testWallet.mode = '${mode}'`)
const approve = (page: Page) => clickButton(page, 'Approve in Test Wallet')

const mintOf = (symbol: string): string => tokenBySymbol(symbol)?.mint ?? ''

// These two come first, because the service caches what it reads from the price feed.
test.serial('D3 the token has no price', async (t) => {
  const { prices } = open().world.sandbox
  prices.set(mintOf('BONK'), null)
  prices.set(mintOf('USDT'), 0)
  const one = await toWallets({}, 'BONK')
  await clickButton(one.page, /Test Wallet/)
  await assertScreen(t, one, 'D3-no-price', "BONK can't be exchanged right now.", ['Choose another token.'])
})

test.serial('D3 the price feed answers an unusable price', async (t) => {
  const one = await toWallets({}, 'USDT')
  await clickButton(one.page, /Test Wallet/)
  await assertScreen(t, one, 'D3-away', 'Prices are unavailable.', ['Try again in a minute.'])
  open().world.sandbox.prices.reset()
})

test.serial('D3 no swap engine has a route', async (t) => {
  const { aggregator } = open().world.sandbox
  const without = { mode: 'no-route' } as const
  aggregator.set({ ultra: without, v6: without })
  t.teardown(() => aggregator.reset())
  const one = await toWallets({ settings: { autoConvertUsdc: true } })
  const answered = one.page.waitForResponse('**/sdk/tip')
  await clickButton(one.page, /Test Wallet/)
  t.is((await answered).status(), 422)
  t.is((await (await answered).json()).code, 'no_route')
  await assertScreen(t, one, 'D3-no-route', "SOL can't be exchanged right now.", ['Choose another token.'])
})

test.serial('A0 the session is loading', async (t) => {
  const one = await prepareVisit(open())
  await one.page.route('**/sdk/session', () => undefined)
  await one.page.goto(one.embedUrl)
  await one.page.locator('.working').waitFor()
  await waitForAnnouncement(one.page, /^Loading$/)
  await checkAccessibility(t, one.page, 'A0-loading')
  await one.context.close()
})

test.serial('A1 the link has expired', async (t) => {
  const one = await prepareVisit(open())
  await ageSession(open().world, one.sessionToken, 16)
  await one.page.goto(one.embedUrl)
  await assertScreen(t, one, 'A1-dead', 'This tip link has expired.', [
    'Go back to the page and open it again.',
  ])
})

test.serial('A2 the form, also with an invalid amount', async (t) => {
  const one = await openCheckout()
  await checkAccessibility(t, one.page, 'A2-choose')
  await chooseRadio(one.page, 'Other…')
  await one.page.getByRole('textbox', { name: 'Amount in US dollars' }).fill('1,000')
  await one.page.keyboard.press('Tab')
  await one.page.getByRole('alert').filter({ hasText: 'This can be read in two ways.' }).waitFor()
  await one.page.getByRole('textbox', { name: 'Amount in US dollars' }).fill('0')
  await clickButton(one.page, /^Tip/)
  await one.page
    .getByRole('alert')
    .filter({ hasText: /^Enter an amount from \$0\.01 to \$10,000\.$/ })
    .waitFor()
  await one.page.locator(':focus[aria-invalid=true]').waitFor()
  await checkAccessibility(t, one.page, 'A2-fault')
  await one.context.close()
})

test.serial('B1 wallets are found, also one that registers late', async (t) => {
  const one = await toWallets({ wallet: { lateMs: 800 } })
  await assertScreen(t, one, 'B1-wallets', 'Choose your wallet', ['Detected'])
})

test.serial('B2 and B6 no wallet works in the frame, and the tip continues in another window', async (t) => {
  const one = await prepareVisit(open(), { wallet: 'none' })
  await one.page.goto(open().site.serve(hostPage(one.embedUrl)))
  const frame = one.page.frameLocator('iframe')
  await frame.getByRole('button', { name: /^Tip \$/ }).click()
  await frame.getByRole('heading', { name: "Your wallet can't open inside this page." }).waitFor()
  const inner = one.page.frames()[1]
  t.truthy(inner)
  if (inner === undefined) return
  await checkAccessibility(t, one.page, 'B2-none-here', inner)
  const opened = one.context.waitForEvent('page')
  await frame.getByRole('button', { name: 'Continue in a new window' }).click()
  const popup = await opened
  await popup.getByRole('heading', { name: /^Tip / }).waitFor()
  t.is(new URL(popup.url()).hash, '')
  await frame.getByRole('heading', { name: 'Continue in the other window.' }).waitFor()
  await checkAccessibility(t, one.page, 'B6-elsewhere', inner)
  await frame.getByRole('button', { name: 'Pay here instead' }).click()
  await frame.getByRole('button', { name: /^Tip \$/ }).waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('B3 there is no wallet', async (t) => {
  const one = await toWallets({ wallet: 'none' })
  await assertScreen(t, one, 'B3-no-wallet', 'No Solana wallet found.', ['Install one, or pay in naira.'])
})

test.serial('B4 the tip continues on a phone', async (t) => {
  const one = await toWallets()
  await clickButton(one.page, 'Use your phone')
  await one.page.getByRole('img', { name: "Scan with your phone's camera or wallet to pay $5" }).waitFor()
  await assertScreen(t, one, 'B4-phone', 'Open in your wallet app')
})

test.serial('B7 on a phone the installed wallet opens first, getting one comes last', async (t) => {
  const one = await openCheckout({ wallet: 'none', touch: true, viewport: { width: 360, height: 740 } })
  await one.page.getByRole('tab', { name: /^Crypto/ }).click()
  await clickButton(one.page, /^Tip .* with /)
  const links = one.page.getByRole('link')
  await one.page.getByRole('link', { name: 'Open in Phantom' }).waitFor()
  t.deepEqual(
    (await links.allInnerTexts()).map((text) => text.trim()),
    ['Open in Phantom', 'Open in Solflare', 'Get Phantom', 'Get Solflare'],
  )
  const href = (await links.first().getAttribute('href')) ?? ''
  t.regex(decodeURIComponent(href), /#h=[\w-]{43}&usd=\d/)
  t.false(href.includes(one.sessionToken))
  await assertScreen(t, one, 'B7-phone-wallet', 'Open in your wallet app', ['No wallet app yet?'])
})

test.serial('B5 the browser blocks the window', async (t) => {
  const one = await prepareVisit(open(), { wallet: 'none' })
  const sandbox = 'sandbox="allow-scripts allow-same-origin allow-forms"'
  await one.page.goto(open().site.serve(hostPage(one.embedUrl, sandbox)))
  const frame = one.page.frameLocator('iframe')
  await frame.getByRole('button', { name: /^Tip \$/ }).click()
  await frame.getByRole('button', { name: 'Continue in a new window' }).click()
  await frame.getByRole('heading', { name: 'Your browser blocked the window.' }).waitFor()
  const link = await frame.getByRole('link', { name: 'Open the checkout' }).getAttribute('href')
  t.regex(link ?? '', /#h=[\w-]{43}&usd=5\.00/)
  t.false(link?.includes(one.sessionToken))
  const inner = one.page.frames()[1]
  if (inner !== undefined) await checkAccessibility(t, one.page, 'B5-blocked', inner)
  await one.context.close()
})

test.serial('C1 the wallet is connecting', async (t) => {
  const one = await toWallets({ wallet: { mode: 'hang' } })
  await clickButton(one.page, /Test Wallet/)
  await assertScreen(t, one, 'C1-connecting', 'Approve the connection in Test Wallet.')
})

test.serial('C2 the wallet is on another network', async (t) => {
  const one = await toWallets({ wallet: { chains: ['solana:devnet'] } })
  await clickButton(one.page, /Test Wallet/)
  const said = ['Switch it to Solana mainnet, then try again.']
  await assertScreen(t, one, 'C2-wrong-network', 'Test Wallet is on another network.', said)
})

test.serial('C3 the wallet has another request open', async (t) => {
  const one = await toWallets({ wallet: { mode: 'busy' } })
  await clickButton(one.page, /Test Wallet/)
  const said = ['Open it and finish or close that one first.']
  await assertScreen(t, one, 'C3-busy', 'Test Wallet already has a request open.', said)
})

test.serial('D1 the price is loading, with an explanation when that takes long', async (t) => {
  const one = await prepareVisit(open())
  await one.page.clock.install()
  await one.page.route('**/sdk/tip', () => undefined)
  await one.page.goto(one.embedUrl)
  await chooseToken(one.page, 'SOL')
  await one.page.getByRole('button', { name: /Test Wallet/ }).waitFor()
  // From here the page's time is the test's alone.
  await one.page.clock.pauseAt(Date.now() + 60_000)
  await clickButton(one.page, /Test Wallet/)
  await one.page.getByText("Getting today's price…").first().waitFor()
  await one.page.clock.runFor(4500)
  await one.page.getByText('Still working…').waitFor()
  await one.page.clock.runFor(8000)
  await one.page.getByText('This is slower than usual. Your money has not moved.').waitFor()
  await one.page.clock.resume()
  await checkAccessibility(t, one.page, 'D1-pricing')
  await one.context.close()
})

test.serial('D2 the review', async (t) => {
  const one = await toReview()
  await waitForAnnouncement(
    one.page,
    /^You pay 0\.03333\d* SOL, about \$5\.00\. Ada Lovelace receives 0\.0326\d* SOL\.$/,
  )
  await assertScreen(t, one, 'D2-review', 'Check and approve', ['Platform fee'])
})

test.serial('D3 the amount is too small for the network', async (t) => {
  const one = await openCheckout()
  await chooseRadio(one.page, 'Other…')
  await one.page.getByRole('textbox', { name: 'Amount in US dollars' }).fill('0.02')
  await chooseRadio(one.page, 'SOL')
  await clickButton(one.page, 'Tip $0.02 with SOL')
  await clickButton(one.page, /Test Wallet/)
  await assertScreen(t, one, 'D3-too-small', 'Too small for the network.', ['Tip at least $1.'])
})

test.serial('E1 waiting for approval can be cancelled', async (t) => {
  const one = await toReview()
  await setMode(one.page, 'hang')
  await approve(one.page)
  await one.page.getByText('Nothing is paid until you approve.').first().waitFor()
  await checkAccessibility(t, one.page, 'E1-approving')
  await clickButton(one.page, 'Cancel')
  await heading(one.page, 'Check and approve').waitFor()
  await one.page.evaluate('testWallet.release()')
  // The late signature is not sent: the next approval is a new payment.
  await setMode(one.page, 'approve')
  await approve(one.page)
  await heading(one.page, /Thank you/).waitFor()
  t.is((await listTips(open().world, one.embedder.wallet)).length, 1)
  await one.context.close()
})

test.serial('after a wallet removed its account, the page asks to choose a wallet again', async (t) => {
  const one = await toReview()
  await one.page.evaluate('testWallet.forgetAccount()')
  await approve(one.page)
  await heading(one.page, 'Choose your wallet').waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('E2 the supporter declined, and the quote is kept', async (t) => {
  const one = await toReview()
  await setMode(one.page, 'reject')
  await approve(one.page)
  await assertScreen(t, one, 'E2-declined', 'Check and approve', [
    'You declined in your wallet.',
    'Nothing was paid.',
  ])
})

test.serial('E3 the price expired before it was sent', async (t) => {
  const one = await toReview()
  open().world.sandbox.chain.advance(400)
  await approve(one.page)
  await assertScreen(t, one, 'E3-expired', 'The price has expired.', ['Nothing was paid.'])
})

test.serial('E4 USDC is preselected; a wallet without USDC pays in SOL with one more click', async (t) => {
  const one = await openCheckout({ tokens: [] })
  await clickButton(one.page, 'Tip $5.00 with USDC')
  await clickButton(one.page, /Test Wallet/)
  await heading(one.page, 'Not enough USDC.').waitFor()
  await one.page.getByText(/You need 5\.00 USDC; this wallet has 0\.00 USDC\./).waitFor()
  await checkAccessibility(t, one.page, 'E4-insufficient')
  await clickButton(one.page, 'Pay with SOL')
  await assertScreen(t, one, 'E4-other-token', 'Check and approve', [/^0\.0333\d* SOL/])
})

test.serial(
  'E5 a wallet with USDC and no SOL is told what the fee needs, and naira is one press away',
  async (t) => {
    const one = await openCheckout()
    const { sandbox } = open().world
    sandbox.chain.setAccount(one.supporter.wallet, { lamports: 0n })
    await clickButton(one.page, 'Tip $5.00 with USDC')
    await clickButton(one.page, /Test Wallet/)
    await heading(one.page, 'You need a little SOL for the fee.').waitFor()
    await one.page.getByText(/Add 0\.00\d+ SOL and try again, or pay in naira\. Nothing was paid\./).waitFor()
    await checkAccessibility(t, one.page, 'E5-no-sol')
    requestAirdrop(sandbox.chain, one.supporter.wallet, 10_000_000n)
    await clickButton(one.page, 'Try again')
    await heading(one.page, 'Check and approve').waitFor()
    await one.page.goBack()
    await clickButton(one.page, 'Back')
    t.deepEqual(one.faults, [])
    await one.context.close()
  },
)

/** Sends a payment while the service's status requests get no answer. */
async function toSent(): Promise<Visit> {
  const one = await prepareVisit(open())
  await one.page.clock.install()
  await one.page.route('**/sdk/intents/**', () => undefined)
  await one.page.goto(one.embedUrl)
  await chooseToken(one.page, 'SOL')
  await clickButton(one.page, /Test Wallet/)
  await approve(one.page)
  await heading(one.page, 'Sent. Waiting for the network.').waitFor()
  return one
}

test.serial('F1 the payment is sent', async (t) => {
  const one = await toSent()
  await assertScreen(t, one, 'F1-sent', 'Sent. Waiting for the network.', [
    'Usually 1 to 2 seconds. You can close this page.',
  ])
})

test.serial('F2 the confirmation is slow', async (t) => {
  const one = await toSent()
  await one.page.clock.fastForward(22_000)
  await assertScreen(t, one, 'F2-slow', 'Sent, still waiting.', ["Don't pay again; we check for you."])
})

test.serial('F3 the payment was not sent', async (t) => {
  const one = await toReview()
  await setMode(one.page, 'unsigned')
  await approve(one.page)
  await assertScreen(t, one, 'F3-not-sent', 'Not sent.', ['Nothing was paid.', 'Details'])
})

test.serial('F4 the transaction did not land in time', async (t) => {
  const one = await prepareVisit(open())
  await one.page.clock.install()
  const { sandbox } = open().world
  // The RPC endpoint accepts a transaction and loses it.
  await one.page.route(`${sandbox.url}/`, async (route) => {
    const { method, id } = JSON.parse(route.request().postData() ?? '{}')
    const lost = {
      json: { jsonrpc: '2.0', id, result: 'lost' },
      headers: { 'access-control-allow-origin': '*' },
    }
    await (method === 'sendTransaction' ? route.fulfill(lost) : route.continue())
  })
  await one.page.goto(one.embedUrl)
  await chooseToken(one.page, 'SOL')
  await clickButton(one.page, /Test Wallet/)
  await approve(one.page)
  await heading(one.page, 'Sent. Waiting for the network.').waitFor()
  sandbox.chain.advance(400)
  for (const ms of [2500, 5500]) {
    const checked = one.page.waitForResponse((answer) =>
      /getSignatureStatuses/.test(answer.request().postData() ?? ''),
    )
    await one.page.clock.fastForward(ms)
    await checked
  }
  await one.page.clock.fastForward(6000)
  await assertScreen(t, one, 'F4-not-taken', "The network didn't take it in time.", ['Nothing was paid.'])
})

test.serial('F4 a payment is not seen in time, and is shown when it is found later', async (t) => {
  const one = await toReview({ wallet: { features: ['signAndSendTransaction'] } }, 'SOL')
  const intents = open().world.db('payment_intents').where({ source_wallet: one.supporter.wallet })
  await setMode(one.page, 'lost')
  await approve(one.page)
  await heading(one.page, 'Sent. Waiting for the network.').waitFor()
  await intents.clone().update({ created_at: new Date(Date.now() - 180_000) })
  await heading(one.page, "We haven't seen your payment yet.").waitFor()
  await one.page.getByText(/^Look in your wallet before you pay again/).waitFor()
  t.is(await one.page.getByText('Nothing was paid.').count(), 0)
  await checkAccessibility(t, one.page, 'F4-not-seen')
  await intents.clone().update({ due_at: new Date(0) })
  await createFinderBatch(as('finder', open().world.services))()
  await assertScreen(t, one, 'F4-found', /^Thank you!/)
})

test.serial('F5 the transaction failed on the chain', async (t) => {
  const one = await toReview({ wallet: { features: ['signAndSendTransaction'] } }, 'SOL')
  const { supporter } = one
  const lamports = 99_990_000_000
  supporter.send([
    SystemProgram.transfer({
      fromPubkey: supporter.keypair.publicKey,
      toPubkey: supporter.keypair.publicKey,
      lamports: 1,
    }),
    SystemProgram.transfer({ fromPubkey: supporter.keypair.publicKey, toPubkey: recipientKey(), lamports }),
  ])
  await approve(one.page)
  await assertScreen(t, one, 'F5-rejected', 'The network rejected the payment.', [
    'Only the network fee was used.',
  ])
})

test.serial('F6 the transaction does not match the tip', async (t) => {
  const one = await toReview({ wallet: { features: ['signAndSendTransaction'] } })
  const { keypair } = one.supporter
  const transfer = { fromPubkey: keypair.publicKey, toPubkey: recipientKey(), lamports: 5_000_000 }
  const signature = one.supporter.send([SystemProgram.transfer(transfer)])
  await one.page.evaluate(`testWallet.signature = [${decodeBase58(signature)}]; testWallet.mode = 'another'`)
  await approve(one.page)
  const title = "Payment received, but it doesn't match this tip."
  await assertScreen(t, one, 'F6-mismatch', title, ['Ask Ada Lovelace, with this reference:', signature])
})

test.serial('G the tip is confirmed', async (t) => {
  const one = await prepareVisit(open())
  await one.page.goto(one.embedUrl)
  await one.page.getByRole('textbox', { name: /^Message/ }).fill('For the album, with love')
  await chooseToken(one.page, 'USDC')
  await clickButton(one.page, /Test Wallet/)
  await approve(one.page)
  await assertScreen(t, one, 'G-done', 'Thank you! Ada Lovelace has received 4.90 USDC.', [
    'For the album, with love',
  ])
})

test.serial('without a frame a tip is followed by an empty form, and Back shows the receipt', async (t) => {
  const one = await openCheckout()
  const { page } = one
  const pay = async (): Promise<void> => {
    await clickButton(page, /Test Wallet/)
    await approve(page)
    await heading(page, /^Thank you!/).waitFor()
  }
  const message = page.getByRole('textbox', { name: /^Message/ })
  await chooseRadio(page, '$10')
  await message.fill('For the album')
  await chooseRadio(page, 'SOL')
  await clickButton(page, 'Tip $10.00 with SOL')
  await pay()
  await page.reload()
  await heading(page, /^Thank you!/).waitFor()
  await page.getByText('For the album').waitFor()
  await checkAccessibility(t, page, 'G-reloaded')
  const first = new URL(page.url()).pathname
  await clickButton(page, 'Tip again')
  const submit = page.getByRole('button', { name: 'Tip $10.00 with SOL' })
  await submit.waitFor()
  t.is(await message.inputValue(), '')
  t.not(new URL(page.url()).pathname, first, 'a session of its own')
  t.false(page.url().includes('#'), 'no token in the address')
  await checkAccessibility(t, page, 'G-again')
  await page.goBack()
  await heading(page, /^Thank you!/).waitFor()
  t.is(new URL(page.url()).pathname, first)
  await page.goForward()
  await submit.click()
  await pay()
  t.is((await listTips(open().world, one.embedder.wallet)).length, 2)
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('Back from the wallets leads to the form, also when nothing was filled in', async (t) => {
  const one = await openCheckout()
  await clickButton(one.page, 'Tip $5.00 with USDC')
  await heading(one.page, 'Choose your wallet').waitFor()
  await one.page.goBack()
  await one.page.getByRole('button', { name: 'Tip $5.00 with USDC' }).waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('H the service does not answer, and the page says so and goes on by itself', async (t) => {
  const one = await prepareVisit(open())
  const down = (route: Route) => route.fulfill({ status: 503, body: 'down' })
  await one.page.route('**/sdk/session', down)
  await one.page.goto(one.embedUrl)
  await one.page.getByText("The service isn't answering.").first().waitFor()
  await checkAccessibility(t, one.page, 'H-unanswered')
  await one.page.unroute('**/sdk/session', down)
  await one.page.getByRole('button', { name: 'Tip $5.00 with USDC' }).waitFor()
  await chooseToken(one.page, 'SOL')
  await one.page.route('**/sdk/tip', down)
  await clickButton(one.page, /Test Wallet/)
  await heading(one.page, "The service didn't answer.").waitFor()
  await checkAccessibility(t, one.page, 'H-no-answer')
  await one.page.unroute('**/sdk/tip', down)
  await clickButton(one.page, 'Try again')
  await heading(one.page, 'Check and approve').waitFor()
  await one.page.goBack()
  await heading(one.page, 'Choose your wallet').waitFor()
  await clickButton(one.page, 'Back')
  await one.page.getByRole('button', { name: 'Tip $5.00 with SOL' }).waitFor()
  await one.context.close()
})

test.serial('H the browser is offline', async (t) => {
  const one = await toReview()
  await one.context.setOffline(true)
  await one.page.getByText("You're offline.").first().waitFor()
  await assertScreen(t, one, 'H-offline', 'Check and approve', ["We'll go on when you're back."])
})

function hostPage(embedUrl: string, attributes = ''): string {
  const frame = `<iframe title="Tip Ada" src="${embedUrl}" ${attributes} style="width:100%;max-width:480px;height:640px;border:0"></iframe>`
  return `<!doctype html><html lang="en"><title>Shop</title><meta name="viewport" content="width=device-width"><body style="margin:0">${frame}`
}

const recipientKey = () => new PublicKey(unusedWallet())
