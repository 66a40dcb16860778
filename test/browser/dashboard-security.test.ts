import { readFileSync } from 'node:fs'
import test from 'ava'
import type { Page } from 'playwright-core'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import { cardOf, openDashboard } from '../helpers/browser/dashboard.js'
import { layoutShifts } from '../helpers/browser/layout-shifts.js'
import { assertBecomes, heading, tabTo, waitForHeading } from '../helpers/browser/on-page.js'
import { addVirtualAuthenticator } from '../helpers/browser/virtual-authenticator.js'
import { type EnteredBody, freshEmail, type Person, registerPerson } from '../helpers/make/creators.js'
import { mailedToken, queuedCode } from '../helpers/make/emailed-codes.js'
import { addTotp, ageSessions, decodeBase32, nextCode, totpCode } from '../helpers/make/factors.js'
import { publicUrl } from '../helpers/servers/world.js'

/** How an owner protects the account, and takes it back. */
const open = useBrowser(test)
test.serial.beforeEach((t) => t.timeout(90_000))

const logIn = ({ email, password }: Pick<Person, 'email' | 'password'>) =>
  open().world.request<EnteredBody>('POST', '/auth/login', { body: { email, password } })
const userRow = ({ user }: Person) => open().world.db('users').where({ id: user.id }).first()
async function signIn(page: Page, { email, password }: Pick<Person, 'email' | 'password'>): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.keyboard.press('Enter')
}

async function signOut(page: Page): Promise<void> {
  await page.getByText('Ada Lovelace').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await heading(page, 'Sign in').waitFor()
}

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
  t.is((await logIn(person)).status, 401)
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

test.serial('the password is changed, and other sessions are listed and ended', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const others = [await logIn(person), await logIn(person)]
  const { page, context, faults } = await openDashboard(open(), person.session)
  await heading(page, 'Home').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await waitForHeading(page, 'Security')
  const sessions = cardOf(page, 'Where you’re signed in')
  await sessions.getByText('This session').waitFor()
  t.is(await sessions.getByRole('listitem').count(), 3)
  await checkScreen(t, page, 'dash-security')
  await sessions.getByRole('button', { name: 'End', exact: false }).first().click()
  await page.getByRole('status').filter({ hasText: 'The session has ended.' }).waitFor({ state: 'attached' })
  await assertBecomes(t, async () => (await sessions.getByRole('listitem').count()) === 2, true)
  await sessions.getByRole('button', { name: 'End all others' }).click()
  await sessions.getByText('You’re signed in nowhere else.').waitFor()
  // The button is gone: the focus stays in its card.
  await waitForHeading(page, 'Where you’re signed in')
  for (const { session } of others)
    t.is((await world.request('GET', '/auth/me', { session: session ?? '' })).status, 401)

  await page.getByRole('textbox', { name: 'Current password' }).first().focus()
  await page.keyboard.type('not the password')
  await tabTo(t, page, 'new-password')
  await page.keyboard.type('velvet crag punish jumbo')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This isn’t your current password.' }).waitFor()
  await page.getByRole('textbox', { name: 'Current password' }).first().fill(person.password)
  await page.keyboard.press('Enter')
  await page.getByText('Your password is changed. All other sessions have ended.').first().waitFor()
  t.is((await logIn({ ...person, password: 'velvet crag punish jumbo' })).status, 200)

  const mails = cardOf(page, 'E-mails about tips')
  await mails.getByText('One a day, with all tips').click()
  await mails.getByRole('alert').filter({ hasText: 'Confirm your e-mail address first' }).waitFor()
  t.true(await mails.getByRole('radio', { name: 'None' }).isChecked(), 'what is not stored is not shown')
  await world.db('users').where({ id: person.user.id }).update({ email_verified_at: new Date() })
  await mails.getByText('One a day, with all tips').click()
  await assertBecomes(t, async () => (await userRow(person)).tip_mails, 'daily')
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

test.serial(
  'the e-mail address is changed by a link to the new one, and taken back from the old one',
  async (t) => {
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
    t.is((await userRow(person)).email, person.email)

    await page.goto(`${world.url}/dashboard#confirm-email=${await mailedToken(world, 'email-change', email)}`)
    await heading(page, 'Use this e-mail address').waitFor()
    await checkScreen(t, page, 'dash-link-email')
    t.is((await userRow(person)).email, person.email, 'only the button acts')
    await tabTo(t, page, 'Use this address')
    await page.keyboard.press('Enter')
    await waitForHeading(page, 'Your e-mail address is changed')
    t.is((await userRow(person)).email, email)

    const undo = await mailedToken(world, 'email-undo', person.email)
    await page.goto(`${world.url}/dashboard#undo-email=${undo}`)
    await heading(page, 'Put your old e-mail address back').waitFor()
    await checkScreen(t, page, 'dash-link-undo')
    await page.getByRole('button', { name: 'Put my address back' }).click()
    await waitForHeading(page, 'Your old address is back')
    t.is((await userRow(person)).email, person.email)
    await checkScreen(t, page, 'dash-link-undo-done')
    await page.getByRole('button', { name: 'Go to sign-in' }).click()
    await heading(page, 'Sign in').waitFor()
    t.deepEqual(faults, [])
    await context.close()
  },
)

test.serial(
  'an authenticator app is set up by keyboard, asked for at sign-in, and replaced by a recovery code',
  async (t) => {
    const { world } = open()
    const person = await registerPerson(world)
    const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/security')
    await heading(page, 'Security').waitFor()
    await ageSessions(world, person)
    await tabTo(t, page, 'Set it up')
    await page.keyboard.press('Enter')
    const again = page.getByRole('dialog', { name: 'Is it you?' })
    await again.waitFor()
    await checkScreen(t, page, 'dash-reauthentication')
    await page.goBack()
    await again.waitFor({ state: 'detached' })
    t.true(page.url().endsWith('/dashboard/security'), 'Back closes the dialog, nothing else')
    await tabTo(t, page, 'Set it up')
    await page.keyboard.press('Enter')
    await again.getByRole('textbox', { name: 'Password' }).fill(person.password)
    await page.keyboard.press('Enter')
    const setUp = page.getByRole('dialog', { name: 'Set up your authenticator app' })
    await setUp.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await checkScreen(t, page, 'dash-app')
    const secret = decodeBase32(((await setUp.locator('code').textContent()) ?? '').replaceAll(' ', ''))
    await tabTo(t, page, 'code')
    await page.keyboard.type(totpCode(secret))
    const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
    await codes.waitFor()
    await page.keyboard.press('Escape')
    t.true(await codes.isVisible(), 'it does not close before they are stored')
    await checkScreen(t, page, 'dash-recovery-codes')
    const shown = await codes.getByRole('listitem').allInnerTexts()
    t.is(shown.length, 10)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      codes.getByRole('button', { name: 'Save as a file' }).click(),
    ])
    const saved = readFileSync(await file.path(), 'utf8')
    t.true(shown.every((code) => saved.includes(code)))
    await tabTo(t, page, 'I have stored them')
    await page.keyboard.press('Enter')
    await codes.waitFor({ state: 'detached' })
    await page.getByText('10 codes left').waitFor()
    await checkScreen(t, page, 'dash-security-app')

    await signOut(page)
    await signIn(page, person)
    const field = page.getByRole('textbox', { name: 'Code from your authenticator app' })
    await field.waitFor()
    t.is(await field.getAttribute('autocomplete'), 'one-time-code')
    const code = await nextCode(world, person, secret)
    await field.fill(code === '000000' ? '000001' : '000000')
    await page.getByText('Wrong or expired code.').waitFor()
    await checkScreen(t, page, 'dash-factor')
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByRole('textbox', { name: 'Recovery code' }).fill(shown[0] ?? '')
    await page.keyboard.press('Enter')
    await heading(page, 'Security').waitFor()
    await page.getByText('9 codes left').waitFor()

    await page.getByRole('button', { name: 'Remove it' }).click()
    const remove = page.getByRole('dialog', { name: 'Remove your authenticator app?' })
    await checkScreen(t, page, 'dash-app-remove')
    await remove.getByRole('textbox').fill(await nextCode(world, person, secret))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Set it up' }).waitFor()
    t.deepEqual(faults, [])
    await context.close()
  },
)

test.serial('a mailed code at sign-in also asks for the second factor', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { secret } = await addTotp(world, person)
  const { page, context, faults } = await openDashboard(open(), undefined)
  await page.getByRole('textbox', { name: 'E-mail' }).fill(person.email)
  await page.getByRole('button', { name: 'E-mail me a code' }).click()
  await page
    .getByRole('textbox', { name: 'Code from the e-mail' })
    .fill(await queuedCode(world, person.email))
  const code = await nextCode(world, person, secret)
  // As apps show it, with a blank in the middle.
  await page
    .getByRole('textbox', { name: 'Code from your authenticator app' })
    .fill(`${code.slice(0, 3)} ${code.slice(3)}`)
  await heading(page, 'Home').waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a passkey is added, signs in alone and is removed with itself', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(
    open(),
    person.session,
    '/dashboard/security',
    publicUrl,
  )
  await heading(page, 'Security').waitFor()
  const passkeys = cardOf(page, 'Passkeys')
  await passkeys.getByRole('textbox', { name: 'Name' }).fill('My phone')
  await addVirtualAuthenticator(page)
  await page.keyboard.press('Enter')
  const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
  await codes.getByRole('button', { name: 'I have stored them' }).click()
  await passkeys.getByText('My phone').waitFor()
  await checkScreen(t, page, 'dash-security-passkey')
  // The same device has one already.
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click()
  await passkeys.getByText('This device has a passkey for your account already.').waitFor()

  await signOut(page)
  await checkScreen(t, page, 'dash-sign-in-passkey')
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await heading(page, 'Security').waitFor()
  await signOut(page)
  await signIn(page, person)
  await page.getByText('One more step').waitFor()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await passkeys.getByRole('button', { name: 'Remove My phone' }).click()
  const remove = page.getByRole('dialog', { name: 'Remove My phone?' })
  await checkScreen(t, page, 'dash-passkey-remove')
  await remove.getByRole('button', { name: 'Use a passkey' }).click()
  await passkeys.getByText('No passkeys yet.').waitFor()
  t.is(await world.db('passkeys').where({ user_id: person.user.id }).first(), undefined)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('“This was not me” freezes by its button, and every screen says what still works', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const body = { email: person.email, password: person.password }
  await world.request('POST', '/auth/login', { body, headers: { 'user-agent': 'Thief/1' } })
  const { body_text } = await world
    .db('emails')
    .where({ recipient: person.email })
    .whereLike('body_text', '%#not-me=%')
    .first()
  const path = /\/dashboard#not-me=[\w-]{43}/.exec(body_text)?.[0] ?? ''
  const { page, context, faults } = await openDashboard(open(), person.session, path)
  await heading(page, 'Was it not you?').waitFor()
  await checkScreen(t, page, 'dash-link-not-me')
  t.is((await userRow(person)).frozen_at, null)
  await tabTo(t, page, 'Freeze my account')
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Your account is frozen')
  await checkScreen(t, page, 'dash-link-not-me-done')
  t.not((await userRow(person)).frozen_at, null)
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
