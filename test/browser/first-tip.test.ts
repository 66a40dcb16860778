import test, { type ExecutionContext } from 'ava'
import type { BrowserContext, Page } from 'playwright-core'
import { startWorker } from '../../src/platform/worker/worker.js'
import { actionTimeoutMs, collectPageErrors, useBrowser } from '../helpers/browser/browser.js'
import { cardOf } from '../helpers/browser/dashboard.js'
import { heading } from '../helpers/browser/on-page.js'
import { walletConfig } from '../helpers/browser/test-wallet-config.js'
import { Walk } from '../helpers/browser/walk.js'
import { provisionerBatch } from '../helpers/make/creators.js'
import { payFiatIntent } from '../helpers/make/fiat/fiat-tips.js'
import { createSupporter } from '../helpers/make/supporter.js'
import { publicUrl } from '../helpers/servers/world.js'
import { installTestWallet } from './test-wallet.js'

/** From the start page to the first tip, by people who have read nothing. */
const open = useBrowser(test)

const mostSeconds = 120

/** The creator pastes the link into a message and sends it; somebody opens it. */
const message = { taps: 4 }
/** Opening a bank's app, its PIN, a transfer, the number pasted, the amount, its PIN again. */
const bankTransfer = { taps: 9, characters: 4 + 4 + 4 }
/** The wallet asks before it connects and before it pays. */
const walletApproval = { taps: 2 }

interface Phone {
  readonly context: BrowserContext
  readonly page: Page
  readonly faults: readonly string[]
}

async function takePhone(t: ExecutionContext, timezoneId: string): Promise<Phone> {
  const context = await open().browser.newContext({
    viewport: { width: 360, height: 740 },
    isMobile: true,
    hasTouch: true,
    locale: 'en-GB',
    timezoneId,
  })
  t.teardown(() => context.close())
  context.setDefaultTimeout(actionTimeoutMs)
  return { context, page: await context.newPage(), faults: collectPageErrors(context) }
}

/** Wallets are made by a worker that each registration wakes. */
function startProvisioner(t: ExecutionContext): void {
  const { world } = open()
  const worker = startWorker({
    kind: 'provisioner',
    batch: provisionerBatch(world),
    concurrency: 1,
    redis: world.services.config.redis,
    onError: t.log,
  })
  t.teardown(() => worker.stop())
}

/** Makes an account and a link, and copies the link. */
async function becomeCreator(t: ExecutionContext, walk: Walk, name: string, email: string) {
  const { context, page, faults } = await takePhone(t, 'Africa/Lagos')
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(publicUrl)
  await walk.see(heading(page, 'Tips in crypto and naira'))
  await walk.tap(page.getByRole('link', { name: 'Create an account' }))
  await walk.see(heading(page, 'Make an account'))
  await walk.type(page.getByRole('textbox', { name: 'Name' }), name)
  await walk.type(page.getByRole('textbox', { name: 'E-mail' }), email)
  await walk.type(page.getByRole('textbox', { name: 'Password' }), 'three red kites')
  await walk.tap(page.getByRole('button', { name: 'Make my account' }))
  await walk.see(page.getByRole('button', { name: 'Save my link' }))
  await walk.tap(page.getByRole('button', { name: 'Save my link' }))
  const copy = cardOf(page, 'Your link').getByRole('button', { name: 'Copy your link' })
  await walk.see(copy)
  await walk.tap(copy)
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const link = await page.evaluate<string>('navigator.clipboard.readText()')
  walk.doElsewhere(message)
  return { page, faults, link }
}

/** The creator sees the tip, without having done anything. */
async function assertSeenInTime(t: ExecutionContext, walk: Walk, page: Page, text: string): Promise<void> {
  await walk.see(page.locator('.tip-row', { hasText: text }))
  t.log(walk.tell())
  t.true(walk.seconds() <= mostSeconds, walk.tell())
}

test.serial('a newcomer has a first tip in naira within two minutes', async (t) => {
  startProvisioner(t)
  const walk = new Walk('first-tip-naira')
  const creator = await becomeCreator(t, walk, 'Ada Obi', 'ada.obi@example.com')
  const { page, faults } = await takePhone(t, 'Africa/Lagos')
  await page.goto(creator.link)
  const pay = page.getByRole('button', { name: 'Pay ₦1,000.00' })
  await walk.see(pay)
  const answered = page.waitForResponse('**/payments/fiat/intent')
  await walk.tap(pay)
  const { intentId } = await (await answered).json()
  await walk.see(heading(page, 'Send exactly ₦1,000.00'))
  await walk.tap(page.getByRole('button', { name: 'Copy account number' }))
  walk.doElsewhere(bankTransfer)
  payFiatIntent(open().world, intentId)
  await walk.see(heading(page, 'Thank you! ₦1,000.00 received.'))
  await assertSeenInTime(t, walk, creator.page, '₦1,000')
  t.deepEqual([...creator.faults, ...faults], [])
})

test.serial('a newcomer has a first tip in crypto within two minutes', async (t) => {
  startProvisioner(t)
  const { world } = open()
  const walk = new Walk('first-tip-crypto')
  const creator = await becomeCreator(t, walk, 'Tobi Musa', 'tobi@example.com')
  const { context, page, faults } = await takePhone(t, 'Europe/London')
  const supporter = createSupporter(world.sandbox, ['USDC'])
  await context.addInitScript(installTestWallet, walletConfig(supporter, world.sandbox.url))
  await page.goto(creator.link)
  const tip = page.getByRole('button', { name: 'Tip $5.00 with USDC' })
  await walk.see(tip)
  await walk.tap(tip)
  await walk.see(heading(page, 'Choose your wallet'))
  await walk.tap(page.getByRole('button', { name: /^Test Wallet/ }))
  await walk.see(heading(page, 'Check and approve'))
  await walk.tap(page.getByRole('button', { name: 'Approve in Test Wallet' }))
  walk.doElsewhere(walletApproval)
  await walk.see(heading(page, 'Thank you! Tobi Musa has received 4.90 USDC.'))
  await assertSeenInTime(t, walk, creator.page, '5 USDC')
  t.deepEqual([...creator.faults, ...faults], [])
})
