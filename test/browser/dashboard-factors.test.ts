import { readFileSync } from 'node:fs'
import test from 'ava'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import { cardOf, openDashboard, signIn, signOut } from '../helpers/browser/dashboard.js'
import { heading, tabTo } from '../helpers/browser/on-page.js'
import { addVirtualAuthenticator } from '../helpers/browser/virtual-authenticator.js'
import { logIn, registerPerson } from '../helpers/make/creators.js'
import { queuedCode } from '../helpers/make/sign-in/emailed-codes.js'
import { addTotp, ageSessions, decodeBase32, nextCode, totpCode } from '../helpers/make/sign-in/factors.js'
import { publicUrl } from '../helpers/servers/world.js'

/** How an owner adds second factors, signs in with them and removes them. */
const open = useBrowser(test)

test.serial('an authenticator app is set up by keyboard, asked for, and replaced by a code', async (t) => {
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
})

test.serial('a mailed code at sign-in also asks for the second factor', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { secret } = await addTotp(world, person)
  const { page, context, faults } = await openDashboard(open(), undefined)
  await page.getByRole('textbox', { name: 'E-mail' }).fill(person.email)
  await page.getByRole('button', { name: 'E-mail me a code' }).click()
  const field = page.getByRole('textbox', { name: 'Code from the e-mail' })
  // Until then the page's own request may still be on its way, and its code would void ours.
  await field.waitFor()
  await field.fill(await queuedCode(world, person.email))
  const code = await nextCode(world, person, secret)
  // As apps show it, with a blank in the middle.
  await page
    .getByRole('textbox', { name: 'Code from your authenticator app' })
    .fill(`${code.slice(0, 3)} ${code.slice(3)}`)
  await heading(page, 'Home').waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('whose address somebody else registered starts afresh, once', async (t) => {
  const { world } = open()
  const squatter = await registerPerson(world)
  await addTotp(world, squatter)
  const { page, context, faults } = await openDashboard(open(), undefined)
  await page.getByRole('textbox', { name: 'E-mail' }).fill(squatter.email)
  const signInByMail = async () => {
    await page.getByRole('button', { name: 'E-mail me a code' }).click()
    const field = page.getByRole('textbox', { name: 'Code from the e-mail' })
    await field.waitFor()
    await field.fill(await queuedCode(world, squatter.email))
    await page.getByRole('textbox', { name: 'Code from your authenticator app' }).waitFor()
    await tabTo(t, page, 'I never set this up')
    await page.keyboard.press('Enter')
    await page.getByText('Did somebody else make this account?').waitFor()
  }
  await signInByMail()
  await checkScreen(t, page, 'dash-factor-not-mine')
  await tabTo(t, page, 'Start afresh')
  await page.keyboard.press('Enter')
  await heading(page, 'Home').waitFor()
  t.is((await logIn(world, squatter)).status, 401)

  await addTotp(world, {
    ...squatter,
    session: (await context.cookies()).find(({ name }) => name === 'session')?.value ?? '',
  })
  await signOut(page)
  await page.getByRole('textbox', { name: 'E-mail' }).fill(squatter.email)
  await signInByMail()
  await page.getByRole('button', { name: 'Start afresh' }).click()
  await page.getByText('has been confirmed here before').waitFor()
  await checkScreen(t, page, 'dash-factor-confirmed-before')
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
