import { PublicKey, SystemProgram } from '@solana/web3.js'
import test from 'ava'
import type { Page } from 'playwright-core'
import { decodeBase58 } from '../../src/kernel/base58.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { useBrowser, type Visit, type VisitOptions, visit } from '../helpers/browser/browser.js'
import { announced, choose, heading, press, reached } from '../helpers/browser/on-page.js'
import { inspect } from '../helpers/inspect.js'
import { ageSession } from '../helpers/make/sdk.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { listTips } from '../helpers/make/tips.js'

const open = useBrowser(test)
/** Every state of the crypto tab, reached as people reach it. One at a time: each has the browser to itself. */
test.serial.beforeEach((t) => t.timeout(90_000))

/** Opens the checkout at the top level. */
async function arrive(options: VisitOptions = {}): Promise<Visit> {
  const one = await visit(open(), options)
  await one.page.goto(one.embedUrl)
  await heading(one.page, /^Tip /).waitFor()
  return one
}

async function chooseToken(page: Page, symbol: string): Promise<void> {
  await choose(page, symbol)
  await press(page, `Tip $5.00 with ${symbol}`)
}

/** As far as the list of wallets. */
async function toWallets(options: VisitOptions = {}, symbol = 'SOL'): Promise<Visit> {
  const one = await arrive(options)
  await chooseToken(one.page, symbol)
  return one
}

/** As far as the review. */
async function toReview(options: VisitOptions = {}, symbol = 'SOL'): Promise<Visit> {
  const one = await toWallets(options, symbol)
  await press(one.page, /Test Wallet/)
  await heading(one.page, 'Check and approve').waitFor()
  return one
}

const setMode = (page: Page, mode: string) => page.evaluate(`testWallet.mode = '${mode}'`)
const approve = (page: Page) => press(page, 'Approve in Test Wallet')

const mintOf = (symbol: string): string => tokenBySymbol(symbol)?.mint ?? ''

// These two first of all: what was read of the feed once is remembered for a while, a price for longer.
test.serial('D3 the token has no price', async (t) => {
  const { prices } = open().world.sandbox
  prices.set(mintOf('BONK'), null)
  prices.set(mintOf('USDT'), 0)
  const one = await toWallets({}, 'BONK')
  await press(one.page, /Test Wallet/)
  await reached(t, one, 'D3-no-price', "BONK can't be exchanged right now.", ['Choose another token.'])
})

test.serial('D3 what the feed says cannot be believed', async (t) => {
  const one = await toWallets({}, 'USDT')
  await press(one.page, /Test Wallet/)
  await reached(t, one, 'D3-away', 'Prices are unavailable.', ['Try again in a minute.'])
  open().world.sandbox.prices.reset()
})

test.serial('D3 no engine has a route', async (t) => {
  const { aggregator } = open().world.sandbox
  const without = { mode: 'no-route' } as const
  aggregator.set({ ultra: without, v6: without })
  t.teardown(() => aggregator.reset())
  const one = await toWallets({ settings: { autoConvertUsdc: true } })
  const answered = one.page.waitForResponse('**/sdk/tip')
  await press(one.page, /Test Wallet/)
  t.is((await answered).status(), 422)
  t.is((await (await answered).json()).code, 'no_route')
  await reached(t, one, 'D3-no-route', "SOL can't be exchanged right now.", ['Choose another token.'])
})

test.serial('A0 loading', async (t) => {
  const one = await visit(open())
  await one.page.route('**/sdk/session', () => undefined)
  await one.page.goto(one.embedUrl)
  await one.page.locator('.skeleton').waitFor()
  await announced(one.page, /^Loading$/)
  await inspect(t, one.page, 'A0-loading')
  await one.context.close()
})

test.serial('A1 link dead', async (t) => {
  const one = await visit(open())
  await ageSession(open().world, one.sessionToken, 16)
  await one.page.goto(one.embedUrl)
  await reached(t, one, 'A1-dead', 'This tip link has expired.', ['Go back to the page and open it again.'])
})

test.serial('A2 choose, with a fault in the amount', async (t) => {
  const one = await arrive()
  await inspect(t, one.page, 'A2-choose')
  await choose(one.page, 'Other…')
  await one.page.getByRole('textbox', { name: 'Amount in US dollars' }).fill('1,000')
  await one.page.keyboard.press('Tab')
  await one.page.getByRole('alert').filter({ hasText: 'This can be read in two ways.' }).waitFor()
  await one.page.getByRole('textbox', { name: 'Amount in US dollars' }).fill('0')
  await press(one.page, /^Tip/)
  await one.page
    .getByRole('alert')
    .filter({ hasText: /^Enter an amount from \$0\.01 to \$10,000\.$/ })
    .waitFor()
  await one.page.locator(':focus[aria-invalid=true]').waitFor()
  await inspect(t, one.page, 'A2-fault')
  await one.context.close()
})

test.serial('B1 wallets found, also one that comes late', async (t) => {
  const one = await toWallets({ wallet: { lateMs: 800 } })
  await reached(t, one, 'B1-wallets', 'Choose your wallet', ['Detected'])
})

test.serial('B2 and B6: no wallet in the frame, then another window', async (t) => {
  const one = await visit(open(), { wallet: 'none' })
  await one.page.goto(open().site.serve(hostPage(one.embedUrl)))
  const frame = one.page.frameLocator('iframe')
  await frame.getByRole('button', { name: /^Tip \$/ }).click()
  await frame.getByRole('heading', { name: "Your wallet can't open inside this page." }).waitFor()
  const inner = one.page.frames()[1]
  t.truthy(inner)
  if (inner === undefined) return
  await inspect(t, one.page, 'B2-none-here', inner)
  const opened = one.context.waitForEvent('page')
  await frame.getByRole('button', { name: 'Continue in a new window' }).click()
  const popup = await opened
  await popup.getByRole('heading', { name: /^Tip / }).waitFor()
  t.is(new URL(popup.url()).hash, '')
  await frame.getByRole('heading', { name: 'Continue in the other window.' }).waitFor()
  await inspect(t, one.page, 'B6-elsewhere', inner)
  await frame.getByRole('button', { name: 'Pay here instead' }).click()
  await frame.getByRole('button', { name: /^Tip \$/ }).waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('B3 no wallet at all', async (t) => {
  const one = await toWallets({ wallet: 'none' })
  await reached(t, one, 'B3-no-wallet', 'No Solana wallet found.', ['Install one, or pay in naira.'])
})

test.serial('B4 phone', async (t) => {
  const one = await toWallets()
  await press(one.page, 'Use your phone')
  await one.page.getByRole('img', { name: "Scan with your phone's camera or wallet to pay $5" }).waitFor()
  await reached(t, one, 'B4-phone', 'Open in your wallet app')
})

test.serial('B5 window blocked', async (t) => {
  const one = await visit(open(), { wallet: 'none' })
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
  if (inner !== undefined) await inspect(t, one.page, 'B5-blocked', inner)
  await one.context.close()
})

test.serial('C1 connecting', async (t) => {
  const one = await toWallets({ wallet: { mode: 'hang' } })
  await press(one.page, /Test Wallet/)
  await reached(t, one, 'C1-connecting', 'Approve the connection in Test Wallet.')
})

test.serial('C2 wrong network', async (t) => {
  const one = await toWallets({ wallet: { chains: ['solana:devnet'] } })
  await press(one.page, /Test Wallet/)
  const said = ['Switch it to Solana mainnet, then try again.']
  await reached(t, one, 'C2-wrong-network', 'Test Wallet is on another network.', said)
})

test.serial('C3 wallet busy', async (t) => {
  const one = await toWallets({ wallet: { mode: 'busy' } })
  await press(one.page, /Test Wallet/)
  const said = ['Open it and finish or close that one first.']
  await reached(t, one, 'C3-busy', 'Test Wallet already has a request open.', said)
})

test.serial('D1 getting the price, which explains itself when it is slow', async (t) => {
  const one = await visit(open())
  await one.page.clock.install()
  await one.page.route('**/sdk/tip', () => undefined)
  await one.page.goto(one.embedUrl)
  await chooseToken(one.page, 'SOL')
  await press(one.page, /Test Wallet/)
  await one.page.getByText("Getting today's price…").first().waitFor()
  await inspect(t, one.page, 'D1-pricing')
  await one.page.clock.fastForward(4500)
  await one.page.getByText('Still working…').waitFor()
  await one.page.clock.fastForward(8000)
  await one.page.getByText('This is slower than usual. Your money has not moved.').waitFor()
  await one.context.close()
})

test.serial('D2 review', async (t) => {
  const one = await toReview()
  await announced(
    one.page,
    /^You pay 0\.03333\d* SOL, about \$5\.00\. Ada Lovelace receives 0\.0326\d* SOL\.$/,
  )
  await reached(t, one, 'D2-review', 'Check and approve', ['Platform fee'])
})

test.serial('D3 too small for the network', async (t) => {
  const one = await arrive()
  await choose(one.page, 'Other…')
  await one.page.getByRole('textbox', { name: 'Amount in US dollars' }).fill('0.02')
  await press(one.page, 'Tip $0.02 with SOL')
  await press(one.page, /Test Wallet/)
  await reached(t, one, 'D3-too-small', 'Too small for the network.', ['Tip at least $1.'])
})

test.serial('E1 waiting for approval, and away from it again', async (t) => {
  const one = await toReview()
  await setMode(one.page, 'hang')
  await approve(one.page)
  await one.page.getByText('Nothing is paid until you approve.').first().waitFor()
  await inspect(t, one.page, 'E1-approving')
  await press(one.page, 'Cancel')
  await heading(one.page, 'Check and approve').waitFor()
  await one.page.evaluate('testWallet.release()')
  // The signature that comes after all is not sent: the next approval is a payment of its own.
  await setMode(one.page, 'approve')
  await approve(one.page)
  await heading(one.page, /Thank you/).waitFor()
  t.is((await listTips(open().world, one.embedder.wallet)).length, 1)
  await one.context.close()
})

test.serial('a wallet whose account is gone asks to be chosen again', async (t) => {
  const one = await toReview()
  await one.page.evaluate('testWallet.forgetAccount()')
  await approve(one.page)
  await heading(one.page, 'Choose your wallet').waitFor()
  t.deepEqual(one.faults, [])
  await one.context.close()
})

test.serial('E2 declined: the quote is kept', async (t) => {
  const one = await toReview()
  await setMode(one.page, 'reject')
  await approve(one.page)
  await reached(t, one, 'E2-declined', 'Check and approve', [
    'You declined in your wallet.',
    'Nothing was paid.',
  ])
})

test.serial('E3 the price expired before it was sent', async (t) => {
  const one = await toReview()
  open().world.sandbox.chain.advance(400)
  await approve(one.page)
  await reached(t, one, 'E3-expired', 'The price has expired.', ['Nothing was paid.'])
})

test.serial('E4 not enough', async (t) => {
  const one = await toWallets({ tokens: [] }, 'USDC')
  await press(one.page, /Test Wallet/)
  const said = [/You need 5\.00 USDC; this wallet has 0\.00 USDC\./]
  await reached(t, one, 'E4-insufficient', 'Not enough USDC.', said)
})

/** Sent, and the service does not say yet what became of it. */
async function toSent(): Promise<Visit> {
  const one = await visit(open())
  await one.page.clock.install()
  await one.page.route('**/sdk/intents/**', () => undefined)
  await one.page.goto(one.embedUrl)
  await chooseToken(one.page, 'SOL')
  await press(one.page, /Test Wallet/)
  await approve(one.page)
  await heading(one.page, 'Sent. Waiting for the network.').waitFor()
  return one
}

test.serial('F1 submitted', async (t) => {
  const one = await toSent()
  await reached(t, one, 'F1-sent', 'Sent. Waiting for the network.', [
    'Usually 1 to 2 seconds. You can close this page.',
  ])
})

test.serial('F2 slow', async (t) => {
  const one = await toSent()
  await one.page.clock.fastForward(22_000)
  await reached(t, one, 'F2-slow', 'Sent, still waiting.', ["Don't pay again; we check for you."])
})

test.serial('F3 not sent', async (t) => {
  const one = await toReview()
  await setMode(one.page, 'unsigned')
  await approve(one.page)
  await reached(t, one, 'F3-not-sent', 'Not sent.', ['Nothing was paid.', 'Details'])
})

test.serial('F4 the network did not take it', async (t) => {
  const one = await visit(open())
  await one.page.clock.install()
  const { sandbox } = open().world
  // An endpoint that takes a transaction and loses it.
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
  await press(one.page, /Test Wallet/)
  await approve(one.page)
  await heading(one.page, 'Sent. Waiting for the network.').waitFor()
  sandbox.chain.advance(400)
  for (const ms of [2500, 5500]) {
    const looked = one.page.waitForResponse((answer) =>
      /getSignatureStatuses/.test(answer.request().postData() ?? ''),
    )
    await one.page.clock.fastForward(ms)
    await looked
  }
  await one.page.clock.fastForward(6000)
  await reached(t, one, 'F4-not-taken', "The network didn't take it in time.", ['Nothing was paid.'])
})

test.serial('F5 the network rejected it', async (t) => {
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
  await reached(t, one, 'F5-rejected', 'The network rejected the payment.', [
    'Only the network fee was used.',
  ])
})

test.serial('F6 paid, but not this', async (t) => {
  const one = await toReview({ wallet: { features: ['signAndSendTransaction'] } })
  const { keypair } = one.supporter
  const transfer = { fromPubkey: keypair.publicKey, toPubkey: recipientKey(), lamports: 5_000_000 }
  const signature = one.supporter.send([SystemProgram.transfer(transfer)])
  await one.page.evaluate(`testWallet.signature = [${decodeBase58(signature)}]; testWallet.mode = 'another'`)
  await approve(one.page)
  const title = "Payment received, but it doesn't match this tip."
  await reached(t, one, 'F6-mismatch', title, ['Keep this reference:', signature])
})

test.serial('G done', async (t) => {
  const one = await visit(open())
  await one.page.goto(one.embedUrl)
  await one.page.getByRole('textbox', { name: /^Message/ }).fill('For the album, with love')
  await chooseToken(one.page, 'USDC')
  await press(one.page, /Test Wallet/)
  await approve(one.page)
  await reached(t, one, 'G-done', 'Thank you! Ada Lovelace has received 4.90 USDC.', [
    'For the album, with love',
  ])
})

test.serial('H offline, over any state', async (t) => {
  const one = await toReview()
  await one.context.setOffline(true)
  await one.page.getByText("You're offline.").first().waitFor()
  await reached(t, one, 'H-offline', 'Check and approve', ["We'll go on when you're back."])
})

function hostPage(embedUrl: string, attributes = ''): string {
  const frame = `<iframe title="Tip Ada" src="${embedUrl}" ${attributes} style="width:100%;max-width:480px;height:640px;border:0"></iframe>`
  return `<!doctype html><html lang="en"><title>Shop</title><meta name="viewport" content="width=device-width"><body style="margin:0">${frame}`
}

const recipientKey = () => new PublicKey(strangerWallet())
