import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { loadPages } from '../../src/http/pages/built-pages.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility, checkScreen } from '../helpers/browser/check-accessibility.js'
import { openDashboard } from '../helpers/browser/dashboard.js'
import { layoutShifts } from '../helpers/browser/layout-shifts.js'
import { clickButton, tabTo } from '../helpers/browser/on-page.js'
import { hostileTexts } from '../helpers/http/hostile-input.js'
import { createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { registerCreator } from '../helpers/make/creators.js'
import { disputeTip, endDispute, lookNow } from '../helpers/make/fiat/disputes.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { endRefundAtProvider, paidTip, workOnRefunds } from '../helpers/make/fiat/refunds.js'
import { createWithdrawal } from '../helpers/make/withdrawals.js'

const open = useBrowser(test)

test.serial('a new tip appears and is announced, and waits while the list is paused', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  const { page, context, faults } = await openDashboard(open(), creator.session)
  await page.getByText('Connected').waitFor()
  await createConfirmedSolTips(world.services, [creator.wallet], { message: 'live!' })
  await page.getByText('“live!”').waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^New tip: .* from / })
    .waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await createConfirmedSolTips(world.services, [creator.wallet], { message: 'while paused' })
  await page.getByRole('button', { name: 'Go on, 1 new tip' }).waitFor()
  t.is(await page.getByText('while paused').count(), 0)
  await page.getByRole('button', { name: 'Go on, 1 new tip' }).click()
  await page.getByText('“while paused”').waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('filters are in the URL, find the right tips, and apply to the CSV file', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  await createConfirmedSolTips(world.services, Array(120).fill(creator.wallet), { message: 'one of many' })
  await createConfirmedSolTips(world.services, [creator.wallet], { message: 'the needle, "quoted"' })
  const { page, context } = await openDashboard(open(), creator.session, '/dashboard/tips?status=confirmed')
  await page.getByText('50 tips and more').first().waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('100 tips and more').first().waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as CSV' }).click()
  const file = await (await saving).path()
  const lines = readFileSync(file, 'utf8').trimEnd().split('\r\n')
  t.is(lines.length, 122)
  t.regex(lines[0] ?? '', /,paidNGN,platformFeeUSD,refundedUSD$/)
  t.is(lines.filter((line) => line.startsWith('timestamp,')).length, 1)
  // A page of tips that arrives after the filters changed is not shown.
  let answer = (): void => undefined
  const late = new Promise<void>((done) => {
    answer = done
  })
  await page.route(/cursor=/, async (route) => {
    const response = await route.fetch()
    await late
    await route.fulfill({ response })
  })
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('searchbox').focus()
  await page.keyboard.type('needle')
  await page.getByText('1 tip', { exact: true }).first().waitFor()
  const further = page.waitForResponse(/cursor=/)
  answer()
  await further
  await page.getByText('1 tip', { exact: true }).first().waitFor()
  t.is(await page.locator('.tip-row').count(), 1)
  await page.waitForURL(/\?status=confirmed&q=needle$/)
  await page.getByRole('combobox', { name: 'token' }).selectOption('FIAT')
  await page.getByText('No tip fits these filters.').waitFor()
  await page.reload()
  await page.getByText('No tip fits these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByText('50 tips and more').first().waitFor()

  await world.db.raw(
    `insert into tips (id, kind, status, recorded_at, creator_wallet, sender, amount, token_symbol, message, claim_hash,
       recipient_party, received_raw, display_raw, decimals, mint, confirmed_at, due_at)
     select 'search-' || n, 'chain', 'confirmed', '2026-01-01T12:00:00Z'::timestamptz + n * interval '1 s', 'w', 's', 1, 'USDC',
       'old', '\\x00', (select id from parties where user_id = ?), 1, 1, 6, ?, '2026-01-01T12:00:00Z'::timestamptz + n * interval '1 s', null
     from generate_series(1, 10000) n`,
    [creator.user.id, tokenBySymbol('USDC')?.mint ?? ''],
  )
  await page.getByRole('searchbox').fill('needle')
  await page.getByText(/^The search went back to 1 Jan 2026, [\d:]+\. Older tips were not searched/).waitFor()
  await page.getByText('1 tip', { exact: true }).first().waitFor()
  await checkAccessibility(t, page, 'dash-tips-searched')
  await context.close()
})

test.serial('a naira tip is given back in parts, though an answer is lost', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  const tipId = await paidTip(world, creator)
  const { page, context, faults } = await openDashboard(open(), creator.session, '/dashboard/tips')
  await page.locator('.tip-row').click()
  const drawer = page.getByRole('dialog')
  await clickButton(page, 'Give it back…')
  const amount = drawer.getByRole('textbox', { name: 'How much (naira)' })
  t.is(await amount.inputValue(), '15200.00')
  await drawer.getByText(/^About \$9\.50 leave your balance now.*₦15,200\.00 go to the card/).waitFor()
  await checkScreen(t, page, 'dash-refund')
  await amount.fill('15,200.01')
  await drawer.getByText('This is more than is left of this tip.').waitFor()
  await amount.fill('6080')
  let asked = 0
  const keys = new Set<string | undefined>()
  await page.route('**/refund', async (route) => {
    keys.add(route.request().headers()['idempotency-key'])
    const answer = await route.fetch()
    asked += 1
    return asked === 1 ? route.abort('connectionreset') : route.fulfill({ response: answer })
  })
  await tabTo(t, page, 'Give back ₦6,080.00')
  await page.keyboard.press('Enter')
  await drawer.getByText('$4.00 (₦6,080.00)').waitFor()
  await drawer.getByText('On its way to the payer').waitFor()
  t.deepEqual([asked, keys.size], [2, 1])
  await checkScreen(t, page, 'dash-refund-pending')
  await workOnRefunds(world)
  endRefundAtProvider(world, tipId, 'processed')
  await workOnRefunds(world)
  await drawer.getByText('The payer has it. $3.80 left your balance for it.').waitFor()

  await createWithdrawal(world, creator, { amountUSDC: 3 })
  await clickButton(page, 'Give it back…')
  await drawer.getByText('You have $2.70, so $3.00 are missing.').waitFor()
  await checkScreen(t, page, 'dash-refund-missing')
  await amount.fill('1520')
  await clickButton(page, 'Give back ₦1,520.00')
  await drawer.getByText('$1.00 (₦1,520.00)').waitFor()
  await workOnRefunds(world)
  endRefundAtProvider(world, tipId, 'failed')
  await workOnRefunds(world)
  await drawer.getByText('It wasn’t paid. $0.95 are in your balance again.').waitFor()
  await checkScreen(t, page, 'dash-refund-failed')
  await page.keyboard.press('Escape')
  await page.locator('.tip-row').getByText('$4.00 given back').waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial(
  'a naira tip that was paid too little shows what arrived, and its creator settles it',
  async (t) => {
    const { world } = open()
    const creator = await registerCreator(world)
    const taken = await paidTip(world, creator, { kobo: 500_000 })
    const given = await paidTip(world, creator, { kobo: 400_000 })
    const { page, context, faults } = await openDashboard(open(), creator.session, '/dashboard/tips')
    await page.getByText('Only ₦5,000.00 arrived').waitFor()
    t.is(await page.locator('.tip-row').getByText('Failed').count(), 0)
    // The payer sends the reference.
    await page.getByRole('searchbox').fill(taken)
    await page.getByText('1 tip', { exact: true }).first().waitFor()
    await page.locator('.tip-row').click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText(/^₦10,200\.00 are missing/).waitFor()
    await checkScreen(t, page, 'dash-short')
    await clickButton(page, 'Take the ₦5,000.00')
    await drawer.getByText('Confirmed').first().waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('searchbox').fill(given)
    await page.locator('.tip-row', { hasText: 'Only ₦4,000.00 arrived' }).click()
    await drawer.getByText(/are missing/).waitFor()
    // Somebody else was faster, on another device.
    await world.request('POST', `/creators/tips/${given}/give-back`, { session: creator.session })
    await clickButton(page, 'Take the ₦4,000.00')
    await drawer.getByText('The payer gets it back; this can take some days.').waitFor()
    await checkScreen(t, page, 'dash-short-back')
    t.deepEqual(faults, [])
    await context.close()
  },
)

test.serial('who has a dispute, or owes after a lost one, reads what happens next', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  await world.db('users').where({ id: creator.user.id }).update({ email_verified_at: new Date() })
  const tipId = await paidTip(world, creator)
  const dispute = disputeTip(world, tipId)
  await lookNow(world)
  const { page, context, faults } = await openDashboard(open(), creator.session)
  await page.getByText('Payers dispute tips that brought you $9.50.').waitFor()
  t.deepEqual(await layoutShifts(page), [])
  await checkScreen(t, page, 'dash-home-disputed')
  await page.getByRole('link', { name: 'Tips', exact: true }).click()
  await page.getByText('Payers dispute tips that brought you $9.50.').waitFor()
  await page.locator('.tip-row', { hasText: 'Disputed' }).click()
  await page.getByText('The payer disputes this tip.').waitFor()
  t.is(await page.getByRole('button', { name: 'Give it back…' }).count(), 0)
  await checkScreen(t, page, 'dash-tip-disputed')

  await endDispute(world, dispute, 'lost')
  const late = await paidTip(world, creator)
  await createWithdrawal(world, creator, { amountUSDC: 9 })
  await endDispute(world, disputeTip(world, late), 'lost')
  for (const screen of ['/tips', '']) {
    await page.goto(`${world.url}/dashboard${screen}`)
    await page.getByText(/^You owe \$9\.00\.$/).waitFor()
  }
  await checkScreen(t, page, 'dash-home-owes')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('hostile text stays text in lists, details and names', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  for (const text of hostileTexts) {
    const intent = await createFiatIntent(world, {
      creatorId: creator.user.id,
      amount: 5,
      senderName: text.slice(0, 90),
      memo: text.slice(0, 400),
    })
    payFiatIntent(world, intent.intentId)
    await settleIntentNow(world, intent.intentId)
  }
  await world.db('users').where({ id: creator.user.id }).update({ name: hostileTexts[1] })
  const { page, context, faults } = await openDashboard(open(), creator.session, '/dashboard/tips')
  await page.getByText(`${hostileTexts.length} tips`, { exact: true }).first().waitFor()
  const strangers = 'main :is(script, img, h1 h1, iframe), main svg[onload], header img'
  t.is(await page.locator(strangers).count(), 0)
  for (const viewport of [
    { width: 320, height: 700 },
    { width: 1000, height: 900 },
  ]) {
    await page.setViewportSize(viewport)
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    )
  }
  const rows = page.locator('.tip-row')
  for (let at = 0; at < (await rows.count()); at++) {
    await rows.nth(at).click()
    await page.getByRole('dialog').waitFor()
    t.is(await page.locator('dialog :is(script, img, h1, iframe)').count(), 0)
    t.true(await page.evaluate('document.querySelector("dialog").scrollWidth <= innerWidth'))
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.getByRole('link', { name: 'Home', exact: true }).click()
  await page.getByText('<img src=x', { exact: false }).first().waitFor()
  t.is(await page.evaluate('window.hacked'), undefined)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('no page may frame the dashboard, and only pages of the service the overlay', async (t) => {
  const { world } = open()
  const policy = async (path: string) =>
    String((await world.request('GET', path)).headers['content-security-policy'])
  const dashboard = await policy('/dashboard/tips')
  t.regex(dashboard, /frame-ancestors 'none'/)
  t.regex(dashboard, /require-trusted-types-for 'script'; trusted-types 'none'/)
  t.regex(dashboard, /script-src 'self'; style-src 'self'/)
  t.true(dashboard.includes(`connect-src 'self' ${world.sandbox.url};`), 'take-outs are submitted there')
  t.regex(await policy('/overlay'), /frame-ancestors 'self'/)
})

test.serial('the dashboard and the overlay stay within their size limits', (t) => {
  const pages = loadPages()
  const kibibytes = (name: 'dashboard' | 'overlay'): number => {
    const { script, preloads, styles } = pages.files(name)
    const bytes = [script, ...preloads, ...styles].map((path) => {
      const asset = pages.assets.get(path.replace('/assets/', ''))
      return asset?.gzip?.length ?? asset?.identity.length ?? Number.NaN
    })
    return bytes.reduce((sum, size) => sum + size, 0) / 1024
  }
  const sizes = { dashboard: kibibytes('dashboard'), overlay: kibibytes('overlay') }
  t.log(sizes)
  t.true(sizes.dashboard <= 70)
  t.true(sizes.overlay <= 16)
  t.true(readdirSync('dist/pages/assets').length > 0)
})
