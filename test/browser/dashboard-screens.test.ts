import test from 'ava'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { creatorWithHistory, openDashboard } from '../helpers/browser/dashboard.js'
import { registerCreator } from '../helpers/make/creators.js'

/** Every screen of the dashboard, checked for accessibility. */
const open = useBrowser(test)
test.serial.beforeEach((t) => t.timeout(90_000))

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
  await checkAccessibility(t, page, 'dash-home')
  await page.screenshot({ path: 'screenshots/dash-home-whole.png', fullPage: true })
  await page.getByRole('button', { name: 'Show as table' }).click()
  await checkAccessibility(t, page, 'dash-home-table')
  await page.getByRole('link', { name: 'Tips', exact: true }).click()
  await page.getByRole('button', { name: /Tobi Adeyemi/ }).waitFor()
  await checkAccessibility(t, page, 'dash-tips')
  await page.getByRole('button', { name: /Tobi Adeyemi/ }).click()
  await page.getByRole('dialog').waitFor()
  await checkAccessibility(t, page, 'dash-tip')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
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
  await page.getByRole('heading', { name: 'Settings' }).click()
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await checkAccessibility(t, page, 'dash-shortcuts')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a creator without tips sees how to get the first one', async (t) => {
  const creator = await registerCreator(open().world)
  const { page, context, faults } = await openDashboard(open(), creator.session)
  await page.getByText('No tips yet.').waitFor()
  await checkAccessibility(t, page, 'dash-empty')
  t.deepEqual(faults, [])
  await context.close()
})
