import test from 'ava'
import { mailText } from '../../scripts/kit/mail-text.js'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import { cardOf, openDashboard, signIn } from '../helpers/browser/dashboard.js'
import { layoutShifts } from '../helpers/browser/layout-shifts.js'
import { assertBecomes, heading, tabTo, waitForHeading } from '../helpers/browser/on-page.js'
import { freshEmail, logIn, registerPerson, userRow } from '../helpers/make/creators.js'
import { mailedToken } from '../helpers/make/sign-in/emailed-codes.js'
import { ageSessions } from '../helpers/make/sign-in/factors.js'

/** How an owner sees who is signed in, changes the e-mail address, and takes the account back. */
const open = useBrowser(test)

test.serial('other sessions are listed, and ended after a new sign-in', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const others = [await logIn(world, person), await logIn(world, person)]
  const { page, context, faults } = await openDashboard(open(), person.session)
  await heading(page, 'Home').waitFor()
  await page.getByRole('link', { name: 'Security', exact: true }).click()
  await waitForHeading(page, 'Security')
  const sessions = cardOf(page, 'Where you’re signed in')
  await sessions.getByText('This session').waitFor()
  t.is(await sessions.getByRole('listitem').count(), 3)
  await checkScreen(t, page, 'dash-security')
  await ageSessions(world, person)
  await sessions.getByRole('button', { name: 'End', exact: false }).first().click()
  const again = page.getByRole('dialog', { name: 'Is it you?' })
  await again.waitFor()
  await checkScreen(t, page, 'dash-sessions-reauthentication')
  await tabTo(t, page, 'Cancel')
  await page.keyboard.press('Enter')
  await again.waitFor({ state: 'detached' })
  t.is(await sessions.getByRole('listitem').count(), 3, 'given up: nothing has ended')
  await sessions.getByRole('button', { name: 'End', exact: false }).first().click()
  await again.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await again.waitFor({ state: 'detached' })
  await page.getByRole('status').filter({ hasText: 'The session has ended.' }).waitFor({ state: 'attached' })
  await assertBecomes(t, async () => (await sessions.getByRole('listitem').count()) === 2, true)
  await sessions.getByRole('button', { name: 'End all others' }).click()
  await sessions.getByText('You’re signed in nowhere else.').waitFor()
  // The button is gone: the focus stays in its card.
  await waitForHeading(page, 'Where you’re signed in')
  for (const { session } of others)
    t.is((await world.request('GET', '/auth/me', { session: session ?? '' })).status, 401)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('e-mails about tips are chosen once the address is confirmed', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/settings')
  const mails = cardOf(page, 'E-mails about tips')
  await mails.getByText('One a day, with all tips').click()
  await mails.getByRole('alert').filter({ hasText: 'Confirm your e-mail address first' }).waitFor()
  t.true(
    await mails.getByRole('radio', { name: /^As tips come/ }).isChecked(),
    'what is not stored is not shown',
  )
  await world.db('users').where({ id: person.user.id }).update({ email_verified_at: new Date() })
  await mails.getByText('One a day, with all tips').click()
  await assertBecomes(t, async () => (await userRow(world, person)).tip_mails, 'daily')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('the e-mail address is changed by a link, and taken back from the old one', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const email = freshEmail()
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/security')
  const card = cardOf(page, 'E-mail address')
  await card.waitFor()
  t.deepEqual(await layoutShifts(page), [], 'nothing moves while it loads')
  await card.getByRole('textbox', { name: 'New e-mail address' }).fill(email)
  await card.getByRole('textbox', { name: 'Current password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await card.getByText('Waiting for you').waitFor()
  await checkScreen(t, page, 'dash-security-email')
  t.is((await userRow(world, person)).email, person.email)

  await page.goto(`${world.url}/dashboard#confirm-email=${await mailedToken(world, 'email-change', email)}`)
  await heading(page, 'Use this e-mail address').waitFor()
  await checkScreen(t, page, 'dash-link-email')
  t.is((await userRow(world, person)).email, person.email, 'only the button acts')
  await tabTo(t, page, 'Use this address')
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Your e-mail address is changed')
  t.is((await userRow(world, person)).email, email)

  const undo = await mailedToken(world, 'email-undo', person.email)
  await page.goto(`${world.url}/dashboard#undo-email=${undo}`)
  await heading(page, 'Put your old e-mail address back').waitFor()
  await checkScreen(t, page, 'dash-link-undo')
  await page.getByRole('button', { name: 'Put my address back' }).click()
  await waitForHeading(page, 'Your old address is back')
  t.is((await userRow(world, person)).email, person.email)
  await checkScreen(t, page, 'dash-link-undo-done')
  await page.getByRole('button', { name: 'Go to sign-in' }).click()
  await heading(page, 'Sign in').waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('“This was not me” freezes by its button, and every screen says what still works', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const body = { email: person.email, password: person.password }
  await world.request('POST', '/auth/login', { body, headers: { 'user-agent': 'Thief/1' } })
  const mail = await world.db('emails').where({ recipient: person.email, kind: 'new-device' }).first()
  const path = /\/dashboard#not-me=[\w-]{43}/.exec(mailText(mail))?.[0] ?? ''
  const { page, context, faults } = await openDashboard(open(), person.session, path)
  await heading(page, 'Was it not you?').waitFor()
  await checkScreen(t, page, 'dash-link-not-me')
  t.is((await userRow(world, person)).frozen_at, null)
  await tabTo(t, page, 'Freeze my account')
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Your account is frozen')
  await checkScreen(t, page, 'dash-link-not-me-done')
  t.not((await userRow(world, person)).frozen_at, null)
  await page.getByRole('button', { name: 'Go to sign-in' }).click()
  await signIn(page, person)
  const banner = page.getByRole('alert').filter({ hasText: 'Tips still arrive and your money stays yours.' })
  await banner.waitFor()
  for (const screen of ['Home', 'Tips', 'Withdraw', 'Overlay', 'Developers', 'Security', 'Settings']) {
    await page.getByRole('navigation').getByRole('link', { name: screen, exact: true }).click()
    await heading(page, screen).first().waitFor()
    t.true(await banner.isVisible(), screen)
  }
  await checkScreen(t, page, 'dash-frozen')
  await page.getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('alert')
    .filter({ hasText: 'This account is frozen: nothing can be changed' })
    .waitFor()
  t.deepEqual(faults, [])
  await context.close()
})
