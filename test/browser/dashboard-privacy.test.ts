import { readFileSync } from 'node:fs'
import test from 'ava'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { solMint } from '../../src/kernel/tokens.js'
import { makeExports } from '../../src/privacy/exports/make-exports.js'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import { cardOf, openDashboard } from '../helpers/browser/dashboard.js'
import {
  assertBecomes,
  heading,
  tabTo,
  waitForAnnouncement,
  waitForHeading,
} from '../helpers/browser/on-page.js'
import { addVirtualAuthenticator } from '../helpers/browser/virtual-authenticator.js'
import { type Person, registerCreator, registerPerson } from '../helpers/make/creators.js'
import { createFiatIntent } from '../helpers/make/fiat/fiat-tips.js'
import { deliverEmail } from '../helpers/make/sign-in/emailed-codes.js'
import { ageFactors, ageSessions } from '../helpers/make/sign-in/factors.js'
import { creditCreator } from '../helpers/make/withdrawals.js'
import { as } from '../helpers/servers/roles.js'
import { publicUrl } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

/** What the law gives an owner: the account's data as a file, and the end of the account. */
const open = useBrowser(test, { mail: true })

const userRow = ({ user }: Person) => open().world.db('users').where({ id: user.id }).first()

test.serial('the account’s data is asked for, mailed and saved by keyboard, and the link ends', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/security')
  const { keyboard } = page
  const card = cardOf(page, 'Your data')
  await card.waitFor()
  await ageSessions(world, person)
  await tabTo(t, page, 'E-mail me my data')
  await keyboard.press('Enter')
  const again = page.getByRole('dialog', { name: 'Is it you?' })
  await again.waitFor()
  await checkScreen(t, page, 'dash-data-reauthentication')
  await tabTo(t, page, 'password')
  await keyboard.type(person.password)
  await keyboard.press('Enter')
  await again.waitFor({ state: 'detached' })
  await waitForAnnouncement(page, 'We’re putting it together.')
  await card.getByText('The e-mail comes in a minute or two.').last().waitFor()
  await checkScreen(t, page, 'dash-data-preparing')

  await makeExports(as('clock', world.services))
  const { subject, text } = await deliverEmail(world, person.email)
  t.regex(subject, /^Your data at /)
  await tabTo(t, page, 'E-mail me my data')
  await keyboard.press('Enter')
  await waitForAnnouncement(page, 'We’ve e-mailed you the link.')
  await checkScreen(t, page, 'dash-data-ready')

  // As the owner opens it: at the address of the mail, in a browser where nobody is signed in.
  const link = /^\s*(\S+\/dashboard#export=[\w-]{43})$/m.exec(text)?.[1] ?? ''
  t.true(link.startsWith(publicUrl), link)
  const { pathname, hash } = new URL(link)
  const mailed = await openDashboard(open(), undefined, pathname + hash, publicUrl)
  await heading(mailed.page, 'Your data').waitFor()
  await assertBecomes(t, async () => mailed.page.url().includes('export='), false)
  await checkScreen(t, mailed.page, 'dash-link-export')
  await tabTo(t, mailed.page, 'Save the file')
  const [download] = await Promise.all([
    mailed.page.waitForEvent('download'),
    mailed.page.keyboard.press('Enter'),
  ])
  t.is(download.suggestedFilename(), 'account-data.json')
  const file = JSON.parse(readFileSync(await download.path(), 'utf8'))
  t.like(file, {
    success: true,
    account: [{ id: person.user.id, email: person.email, name: 'Ada Lovelace' }],
  })
  await waitForHeading(mailed.page, 'The file is saved')
  await checkScreen(t, mailed.page, 'dash-link-export-done')
  await tabTo(t, mailed.page, 'Go to the dashboard')
  await mailed.page.keyboard.press('Enter')
  await heading(mailed.page, 'Sign in').waitFor()

  await world
    .db('data_exports')
    .where({ id: person.user.id })
    .update({ expires_at: new Date(0) })
  await mailed.page.goto(`${publicUrl}/docs`)
  await mailed.page.goto(link)
  await tabTo(t, mailed.page, 'Save the file')
  await mailed.page.keyboard.press('Enter')
  await mailed.page.getByRole('alert').filter({ hasText: 'you can have a new file once a day' }).waitFor()
  await checkScreen(t, mailed.page, 'dash-link-used-export')
  t.deepEqual(await mailed.page.getByRole('button').allInnerTexts(), ['Go to the dashboard'])
  await page.getByRole('button', { name: 'E-mail me my data' }).click()
  await waitForAnnouncement(page, 'The link has expired.')
  t.deepEqual([...faults, ...mailed.faults], [])
  await context.close()
  await mailed.context.close()
})

test.serial('an account is closed by keyboard: the address is typed, the password asked for', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/security')
  const { keyboard } = page
  await cardOf(page, 'Close your account').waitFor()
  await ageSessions(world, person)
  await tabTo(t, page, 'Close my account')
  await keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Close your account?' })
  await dialog.waitFor()
  await checkScreen(t, page, 'dash-close')
  await keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await tabTo(t, page, 'Close my account')
  await keyboard.press('Enter')
  await tabTo(t, page, 'confirm-email')
  await keyboard.type('somebody@example.com')
  await tabTo(t, page, 'password')
  await keyboard.type('not the password')
  await keyboard.press('Enter')
  await dialog
    .getByRole('alert')
    .filter({ hasText: `The address of this account is ${person.email}.` })
    .waitFor()
  await checkScreen(t, page, 'dash-close-address')
  await dialog.getByRole('textbox', { name: 'Type your e-mail address' }).fill(person.email.toUpperCase())
  await keyboard.press('Enter')
  const again = page.getByRole('dialog', { name: 'Is it you?' })
  await again.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await keyboard.press('Enter')
  await dialog.getByRole('alert').filter({ hasText: 'This isn’t your current password.' }).waitFor()
  await checkScreen(t, page, 'dash-close-password')
  t.is((await userRow(person)).closed_at, null)
  await dialog.getByRole('textbox', { name: 'Current password' }).fill(person.password)
  await tabTo(t, page, 'Close it for good')
  await keyboard.press('Enter')
  await waitForHeading(page, 'Your account is closed')
  await page.getByText(`We’ve sent an e-mail to ${person.email}`).waitFor()
  await checkScreen(t, page, 'dash-closed')
  t.not((await userRow(person)).closed_at, null)
  t.regex((await deliverEmail(world, person.email)).subject, /is closed$/)
  t.true(page.url().endsWith('/dashboard'))

  await tabTo(t, page, 'Go to sign-in')
  await keyboard.press('Enter')
  await heading(page, 'Sign in').waitFor()
  await page.reload()
  await heading(page, 'Sign in').waitFor()
  await page.getByRole('textbox', { name: 'E-mail' }).fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await keyboard.press('Enter')
  await page.getByText('Wrong e-mail address or password.').waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('an account with money stays open, and says what is there and what to do', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  await creditCreator(world, creator.user.id, 12_345_678n)
  await createFiatIntent(world, { creatorId: creator.user.id, amount: 5 })
  const { page, context, faults } = await openDashboard(open(), creator.session, '/dashboard/security')
  await page.getByRole('button', { name: 'Close my account' }).click()
  const dialog = page.getByRole('dialog', { name: 'Close your account?' })
  const send = async (): Promise<void> => {
    await dialog.getByRole('textbox', { name: 'Type your e-mail address' }).fill(creator.email)
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(creator.password)
    await page.keyboard.press('Enter')
  }
  await send()
  const told = dialog.getByRole('alert').filter({ hasText: 'There is still money in your account' })
  await told.getByText('Your balance: 12.345678 USDC available.').waitFor()
  await told.getByText('A naira tip that somebody may be paying right now.').waitFor()
  await checkScreen(t, page, 'dash-close-money')
  t.is((await userRow(creator)).closed_at, null)
  await tabTo(t, page, 'Withdraw it')
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Withdraw')
  t.is(await dialog.count(), 0)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('tokens in the wallet are left behind by a passkey, not by a password alone', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  requestAirdrop(world.sandbox.chain, creator.wallet, 1_500_000_000n)
  await until('the SOL is there', async () => {
    const balances = await world.services.chain.walletBalances(creator.wallet, [solMint])
    return balances.get(solMint) === 1_500_000_000n
  })
  const { page, context, faults } = await openDashboard(
    open(),
    creator.session,
    '/dashboard/security',
    publicUrl,
  )
  const closing = page.getByRole('button', { name: 'Close my account' })
  const dialog = page.getByRole('dialog', { name: 'Close your account?' })
  const typed = dialog.getByRole('textbox', { name: 'Type your e-mail address' })
  await closing.click()
  await typed.fill(creator.email)
  await dialog.getByRole('textbox', { name: 'Current password' }).fill(creator.password)
  await page.keyboard.press('Enter')
  await dialog.getByText('Tokens in your wallet: 1.5 SOL.').waitFor()
  await dialog.getByText('Write to us from your e-mail address').waitFor()
  t.is(await dialog.getByRole('checkbox').count(), 0)
  await checkScreen(t, page, 'dash-close-tokens')
  await page.keyboard.press('Escape')

  await addVirtualAuthenticator(page)
  const passkeys = cardOf(page, 'Passkeys')
  await passkeys.getByRole('textbox', { name: 'Name' }).fill('My phone')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'I have stored them' }).click()
  await passkeys.getByText('My phone').waitFor()
  await closing.click()
  await typed.fill(creator.email)
  await dialog.getByText('your browser asks for your passkey').waitFor()
  await checkScreen(t, page, 'dash-close-passkey')
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').filter({ hasText: 'counts for this 72 hours after it was added' }).waitFor()
  await ageFactors(world, creator, 73)
  await page.keyboard.press('Enter')
  const leave = dialog.getByRole('checkbox', { name: /^Leave these tokens behind/ })
  await leave.check()
  await checkScreen(t, page, 'dash-close-leave')
  await dialog.getByRole('button', { name: 'Close it for good' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'changed in the last 72 hours' }).waitFor()
  await world
    .db('users')
    .where({ id: creator.user.id })
    .update({ factors_changed_at: new Date(0) })
  await dialog.getByRole('button', { name: 'Use my current password instead' }).click()
  await dialog.getByRole('textbox', { name: 'Recovery code' }).waitFor()
  await checkScreen(t, page, 'dash-close-recovery')
  await dialog.getByRole('button', { name: 'Use a passkey instead' }).click()
  await dialog.getByRole('button', { name: 'Close it for good' }).click()
  await waitForHeading(page, 'Your account is closed')
  t.not((await userRow(creator)).closed_at, null)
  t.deepEqual(faults, [])
  await context.close()
})
