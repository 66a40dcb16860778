import test from 'ava'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import { openDashboard, signIn } from '../helpers/browser/dashboard.js'
import { assertBecomes, heading, tabTo, waitForHeading } from '../helpers/browser/on-page.js'
import { freshEmail, logIn, registerPerson } from '../helpers/make/creators.js'
import { mailedToken } from '../helpers/make/sign-in/emailed-codes.js'

/** How an owner chooses, changes and recovers the password. */
const open = useBrowser(test)

test.serial('a forgotten password is set with a mailed link, once', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), undefined)
  await page.getByRole('button', { name: 'Forgot your password?' }).click()
  await waitForHeading(page, 'Set a new password')
  await page.goBack()
  await waitForHeading(page, 'Sign in')
  await page.goForward()
  await waitForHeading(page, 'Set a new password')
  await checkScreen(t, page, 'dash-forgot')
  await tabTo(t, page, 'email')
  await page.keyboard.type(person.email)
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'Look into your e-mail' }).waitFor()
  await checkScreen(t, page, 'dash-forgot-sent')

  const token = await mailedToken(world, 'password-reset', person.email)
  // A link that is opened in this tab changes only the fragment.
  await page.goto(`${world.url}/dashboard#reset-password=${token}`)
  await heading(page, 'Set a new password').waitFor()
  await assertBecomes(t, async () => page.url().includes(token), false)
  const field = page.getByRole('textbox', { name: 'New password' })
  await field.fill('password')
  await page.getByText('Weak: easy to guess').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This password is easy to guess' }).waitFor()
  await checkScreen(t, page, 'dash-link-reset')
  await field.fill('velvet crag punish jumbo')
  await page.getByText('Strong').waitFor()
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Your password is set')
  await checkScreen(t, page, 'dash-link-reset-done')
  t.is((await logIn(world, person)).status, 401)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await signIn(page, { ...person, password: 'velvet crag punish jumbo' })
  await heading(page, 'Home').waitFor()

  await page.goto(`${world.url}/docs`)
  await page.goto(`${world.url}/dashboard#reset-password=${token}`)
  await page.getByRole('textbox', { name: 'New password' }).fill('another velvet crag jumbo')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This link has been used, or it is too old.' }).waitFor()
  await checkScreen(t, page, 'dash-link-used-reset')
  t.deepEqual(await page.getByRole('button').allInnerTexts(), ['Ask for a new link'])
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('the password is changed', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/security')
  await heading(page, 'Security').waitFor()
  await page.getByRole('textbox', { name: 'Current password' }).first().focus()
  await page.keyboard.type('not the password')
  await tabTo(t, page, 'new-password')
  await page.keyboard.type('velvet crag punish jumbo')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This isn’t your current password.' }).waitFor()
  await page.getByRole('textbox', { name: 'Current password' }).first().fill(person.password)
  await page.keyboard.press('Enter')
  await page.getByText('Your password is changed. All other sessions have ended.').first().waitFor()
  t.is((await logIn(world, { ...person, password: 'velvet crag punish jumbo' })).status, 200)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a common password is named as such after registering, and can be changed at once', async (t) => {
  const { page, context, faults } = await openDashboard(open(), undefined, '/dashboard#register')
  await page.getByRole('textbox', { name: 'Name' }).fill('Ada Lovelace')
  await page.getByRole('textbox', { name: 'E-mail' }).fill(freshEmail())
  await page.getByRole('textbox', { name: 'Password' }).fill('password1')
  await page.keyboard.press('Enter')
  await page.getByText('Your account is made').waitFor()
  await checkScreen(t, page, 'dash-register-common')
  await page.getByRole('button', { name: 'Choose another one' }).click()
  await heading(page, 'Security').waitFor()
  t.deepEqual(faults, [])
  await context.close()
})
