import test from 'ava'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { solMint } from '../../src/kernel/tokens.js'
import { mostWaitMs } from '../../src/pages/dashboard/connection.js'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { creatorWithHistory, openDashboard } from '../helpers/browser/dashboard.js'
import { layoutShifts } from '../helpers/browser/layout-shifts.js'
import { registerCreator } from '../helpers/make/creators.js'
import { creditCreator } from '../helpers/make/withdrawals.js'
import { until } from '../helpers/until.js'

/** Every screen of the dashboard, checked for accessibility. */
const open = useBrowser(test)

test.serial('the sign-in page and the registration', async (t) => {
  const { page, context, faults } = await openDashboard(open(), undefined)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await checkAccessibility(t, page, 'dash-sign-in')
  await page.getByRole('button', { name: 'Make an account' }).click()
  await page.getByRole('heading', { name: 'Make an account' }).waitFor()
  await checkAccessibility(t, page, 'dash-register')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('every screen of a creator who has tips and withdrawals', async (t) => {
  const creator = await creatorWithHistory(open().world)
  const { page, context, faults } = await openDashboard(open(), creator.session)
  await page.getByText('Greetings from Ibadan').waitFor()
  await page.getByText(/^Most on .+: \$[\d.,]+ \(about ₦[\d,]+\)\.$/).waitFor()
  const naira = await page.getByRole('button', { name: /Tobi Adeyemi/ }).innerText()
  t.regex(naira, /tipped ₦[\d,.]+/)
  t.notRegex(naira, /about/, 'naira that were paid are exact')
  await page
    .locator('.tip-row', { hasText: /USDC/ })
    .getByText(/^about ₦[\d,]+$/)
    .first()
    .waitFor()
  await checkAccessibility(t, page, 'dash-home')
  await page.screenshot({ path: 'screenshots/dash-home-whole.png', fullPage: true })
  await page.getByRole('button', { name: 'Show as table' }).click()
  await page
    .getByRole('cell', { name: /^\$[\d,.]+ about ₦[\d,]+$/ })
    .first()
    .waitFor()
  await checkAccessibility(t, page, 'dash-home-table')
  await page.getByRole('link', { name: 'Tips', exact: true }).click()
  await page.getByRole('button', { name: /Tobi Adeyemi/ }).waitFor()
  await checkAccessibility(t, page, 'dash-tips')
  await page.getByRole('button', { name: /Tobi Adeyemi/ }).click()
  await page.getByRole('dialog').waitFor()
  await checkAccessibility(t, page, 'dash-tip')
  const drawer = page.getByRole('dialog')
  await page.goBack()
  await drawer.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Tips', exact: true }).waitFor()
  await page.goForward()
  await drawer.waitFor()
  await page.reload()
  await drawer.waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  t.true(page.url().endsWith('/dashboard/tips'), 'a drawer is an entry of its own')
  await page.getByRole('link', { name: 'Withdraw', exact: true }).click()
  await page.getByText(/^\$[\d,.]+ available$/).waitFor()
  await checkAccessibility(t, page, 'dash-withdraw')
  await page.getByRole('link', { name: 'Overlay', exact: true }).click()
  await page.getByRole('button', { name: 'Send a test alert' }).waitFor()
  await checkAccessibility(t, page, 'dash-overlay')
  await page.getByRole('link', { name: 'Developers', exact: true }).click()
  await page.getByText('My website').waitFor()
  await checkAccessibility(t, page, 'dash-developers')
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByRole('button', { name: 'Save' }).waitFor()
  await checkAccessibility(t, page, 'dash-settings')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('home moves nothing while it loads, and does not wait for ever for a part', async (t) => {
  const { world } = open()
  const creator = await creatorWithHistory(world)
  requestAirdrop(world.sandbox.chain, creator.wallet, 1_000_000_000n)
  const { page, context, faults } = await openDashboard(open(), creator.session, '/docs')
  // On a slow machine the page waits on, too.
  await page.addInitScript(`{
    const own = setTimeout
    globalThis.setTimeout = (act, ms, ...rest) => (ms === ${mostWaitMs} ? 0 : own(act, ms, ...rest))
  }`)
  for (const [width, height] of [
    [1440, 900],
    [768, 1024],
    [360, 780],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.goto(`${world.url}/docs`)
    await page.goto(`${world.url}/dashboard`)
    for (const text of ['Also in your wallet', 'Set up', /^Most on /, 'Greetings from Ibadan', 'Connected'])
      await page.getByText(text).first().waitFor()
    t.deepEqual(await layoutShifts(page), [], `${width} px`)
  }
  await context.close()

  const slow = await openDashboard(open(), creator.session, '/docs')
  await slow.page.route('**/creators/balance/tokens', () => undefined)
  await slow.page.goto(`${world.url}/dashboard`)
  await slow.page.getByText('Available', { exact: true }).waitFor()
  t.is(await slow.page.getByText('Also in your wallet').count(), 0)
  t.deepEqual([...faults, ...slow.faults], [])
  await slow.context.close()
})

test.serial('a creator without tips sees how to get the first one', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  await creditCreator(world, creator.user.id, 11_400_000_000n)
  requestAirdrop(world.sandbox.chain, creator.wallet, 1_000_000_000n)
  await until('the SOL is there', async () => {
    const balances = await world.services.chain.walletBalances(creator.wallet, [solMint])
    return balances.get(solMint) === 1_000_000_000n
  })
  const { page, context, faults } = await openDashboard(open(), creator.session)
  await page.getByText('Also in your wallet').waitFor()
  await page.getByText('No tips yet.').waitFor()
  await checkAccessibility(t, page, 'dash-empty')
  await page.getByText('about ₦18,240,000').waitFor()
  await page.getByRole('button', { name: 'Choose', exact: true }).click()
  await page.getByRole('dialog', { name: 'What should your tips arrive as?' }).waitFor()
  await checkAccessibility(t, page, 'dash-receive')
  await page.getByRole('button', { name: 'Use this' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Choose', exact: true }).waitFor({ state: 'detached' })
  const { settings } = await world.db('users').where({ id: creator.user.id }).first()
  t.true(settings.autoConvertUsdc)
  await checkAccessibility(t, page, 'dash-tokens')

  await page.setViewportSize({ width: 768, height: 900 })
  const [label, amount] = await Promise.all(
    ['Available', '$11,400.00'].map((text) => page.getByText(text, { exact: true }).boundingBox()),
  )
  t.true((label?.y ?? 0) + (label?.height ?? 0) <= (amount?.y ?? 0), 'the label is above')
  await page.setViewportSize({ width: 360, height: 740 })
  for (const link of await page.getByRole('navigation').getByRole('link').all()) {
    const box = await link.boundingBox()
    t.true(box !== null && box.x >= 0 && box.x + box.width <= 360, await link.innerText())
  }
  await page.evaluate('document.documentElement.style.fontSize = "200%"')
  for (const icon of await page.locator('main svg[width="1.25rem"]').all())
    t.is((await icon.boundingBox())?.width, 40, 'an icon grows with the text')
  await page.evaluate('document.documentElement.style.fontSize = ""')

  await context.setOffline(true)
  await page.getByRole('alert').filter({ hasText: 'You’re offline.' }).waitFor()
  await checkAccessibility(t, page, 'dash-offline')
  await context.setOffline(false)
  await page.getByText('The connection is back.').first().waitFor()
  let failures = 0
  await page.route('**/creators/me', (route) => {
    failures += 1
    return failures === 1 ? route.fulfill({ status: 503, body: 'a proxy' }) : route.continue()
  })
  await page.getByRole('navigation').getByRole('link', { name: 'More', exact: true }).click()
  await page.getByRole('link', { name: /^Settings/ }).click()
  await page.getByRole('alert').filter({ hasText: 'The service isn’t answering, or only in part.' }).waitFor()
  await page.getByRole('button', { name: 'Save' }).waitFor()
  t.is(failures, 2, 'it recovers by itself')
  t.deepEqual(faults, [])
  await context.close()
})
