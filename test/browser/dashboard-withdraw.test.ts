import { readFileSync } from 'node:fs'
import test from 'ava'
import type { Page } from 'playwright-core'
import { mailText } from '../../scripts/kit/mail-text.js'
import { readBankAccounts } from '../../src/withdrawals/bank-account.js'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility, checkScreen } from '../helpers/browser/check-accessibility.js'
import { openDashboard } from '../helpers/browser/dashboard.js'
import { assertBecomes, waitForHeading } from '../helpers/browser/on-page.js'
import type { Person } from '../helpers/make/creators.js'
import { codeInQueue } from '../helpers/make/sign-in/emailed-codes.js'
import {
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  readBalance,
} from '../helpers/make/withdrawals.js'
import type { World } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test, {
  env: { PAYOUT_SECONDS: '15,0.05,900', CONFIRM_ACCOUNTS: 'new' },
  workers: ['payouts', 'reconciler'],
})
test.serial.beforeEach(() => open().world.fiat.fiatpay.faults.reset())

/** Only a confirmed e-mail address may look up the names of account holders. */
async function verifiedCreator(world: World, usdc: number): Promise<Person> {
  const person = await creatorWithBalance(world, usdc)
  await world.db('users').where({ id: person.user.id }).update({ email_verified_at: new Date() })
  return person
}

/** Everything that this tab, and this browser, store. */
const stored = (page: Page): Promise<string> =>
  page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')

/** Goes on to the review, by keyboard. */
async function toReview(page: Page, amount: string): Promise<void> {
  const { keyboard } = page
  await page.getByText(/available$/).waitFor()
  await page.getByRole('textbox', { name: /^Amount/ }).focus()
  await keyboard.type(amount)
  await keyboard.press('Enter')
  await waitForHeading(page, 'To which account?')
  await page.getByRole('combobox', { name: 'Bank' }).focus()
  await keyboard.type('guar trust')
  await page.getByRole('option', { name: 'Guaranty Trust Bank' }).waitFor()
  await keyboard.press('ArrowDown')
  await keyboard.press('Enter')
  await keyboard.press('Tab')
  await keyboard.type('0123456789')
  await page.getByText('SANDBOX ACCOUNT').waitFor()
  await keyboard.press('Enter')
  await waitForHeading(page, 'Check and confirm')
}

test.serial('a withdrawal takes four steps, and the page follows it until it is paid', async (t) => {
  const { world } = open()
  world.fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const ada = await verifiedCreator(world, 50)
  const { page, context, faults } = await openDashboard(open(), ada.session, '/dashboard/withdraw')
  await toReview(page, '20')
  await page.getByText('₦31,680.00').first().waitFor()
  await checkAccessibility(t, page, 'dash-withdraw-review')
  const amount = page.getByRole('textbox', { name: /^Amount/ })
  await page.reload()
  await page.getByRole('button', { name: 'Withdraw $20.00' }).waitFor()
  await page.goBack()
  await page.goBack()
  await assertBecomes(t, () => amount.inputValue(), '20')
  t.true(page.url().endsWith('/dashboard/withdraw'), 'each step is an entry of its own')
  await page.reload()
  await assertBecomes(t, () => amount.inputValue(), '20')
  await page.goForward()
  await page.goForward()
  await page.getByRole('button', { name: 'Withdraw $20.00' }).waitFor()
  t.is(await page.evaluate('localStorage.length'), 0)
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByText('This doesn’t look like your name, Ada Lovelace.').waitFor()
  await checkAccessibility(t, page, 'dash-withdraw-bank')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Withdraw $20.00' }).click()
  await page.getByRole('heading', { name: /The bank is transferring ₦31,680.00/ }).waitFor()
  await checkAccessibility(t, page, 'dash-withdraw-progress')
  const [payout] = await listHistory(world, ada)
  const reference = payout?.reference ?? ''
  await page.waitForURL(`**${reference}`)
  await page.reload()
  await page.getByRole('heading', { name: /The bank is transferring/ }).waitFor()
  const transfer = world.fiat.fiatpay.transfers.find(reference)
  if (transfer !== undefined) world.fiat.fiatpay.setOutcome(transfer, 'success')
  await page.getByRole('heading', { name: '₦31,680.00 paid to SANDBOX ACCOUNT' }).waitFor()
  await checkAccessibility(t, page, 'dash-withdraw-paid')
  t.is(countExecutions(world, reference), 1)
  t.deepEqual(await readBalance(world, ada), { availableUSDC: 30, heldUSDC: 0 })
  t.is(await stored(page), '[{},{}]')
  await page.goBack()
  await assertBecomes(t, () => amount.inputValue(), '')
  await page.getByText('$30.00 available').waitFor()

  await page.route('**/payouts/history?limit=20*', (route) =>
    route.continue({ url: route.request().url().replace('limit=20', 'limit=1') }),
  )
  await page.getByRole('button', { name: /to SANDBOX ACCOUNT/ }).click()
  await page.getByRole('button', { name: 'Make another withdrawal' }).click()
  await page.getByText('$30.00 available').waitFor()
  await page.getByText('about ₦48,000').waitFor()
  await amount.fill('10')
  await page.getByRole('button', { name: 'Next' }).click()
  const used = page.getByRole('radio', { name: 'SANDBOX ACCOUNT, Guaranty Trust Bank ••••6789' })
  await used.waitFor()
  t.true(await used.isChecked(), 'the account used last is offered')
  await checkAccessibility(t, page, 'dash-withdraw-used')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Withdraw $10.00' }).click()
  await page.getByRole('heading', { name: 'The bank is transferring ₦15,840.00' }).waitFor()
  const paid = await readBankAccounts(world.services, ada.user.id, 10)
  t.deepEqual(
    paid.map(({ accountNumber }) => accountNumber),
    ['0123456789'],
  )
  await page.reload()
  const list = page.getByRole('region', { name: 'Withdrawals' })
  await list.getByRole('button', { name: 'Show more' }).click()
  await list.getByText('₦31,680.00').waitFor()
  const [csv] = await Promise.all([
    page.waitForEvent('download'),
    list.getByRole('button', { name: 'Save as CSV' }).click(),
  ])
  t.is(csv.suggestedFilename(), 'withdrawals.csv')
  t.regex(readFileSync(await csv.path(), 'utf8'), /^reference,.*,amountNGN,systemFeeNGN,/)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('after a lost answer the request is repeated with its key, and paid once', async (t) => {
  const { world } = open()
  const ada = await verifiedCreator(world, 50)
  const { page, context } = await openDashboard(open(), ada.session, '/dashboard/withdraw')
  await toReview(page, '10')
  const keys: (string | undefined)[] = []
  await page.route('**/payouts/withdraw', async (route) => {
    keys.push(route.request().headers()['idempotency-key'])
    // The request arrives; its answer does not.
    await route.fetch()
    // After a reload the page has already aborted the request.
    await route.abort('connectionreset').catch(() => undefined)
  })
  await page.getByRole('button', { name: /^Withdraw \$/ }).click()
  await page.getByText('We’re checking what happened. Don’t start again.').waitFor()
  await checkAccessibility(t, page, 'dash-withdraw-checking')
  await page.reload()
  await page.getByText('We’re checking what happened. Don’t start again.').waitFor()
  await until('it was asked for again', () => keys.length >= 2)
  await page.unroute('**/payouts/withdraw')
  await page.getByRole('heading', { name: /₦15,840.00/ }).waitFor()
  const history = await listHistory(world, ada)
  t.is(history.length, 1)
  const executed = () => countExecutions(world, history[0]?.reference ?? '')
  await until('it is executed', () => executed() > 0)
  t.is(executed(), 1)
  t.is(new Set(keys).size, 1)
  t.is(await stored(page), '[{},{}]')
  await context.close()
})

test.serial('a refusal shows the provider’s text as plain text, and the balance is unchanged', async (t) => {
  const { world } = open()
  const rejectText = 'Account <img src=x onerror=alert(1)> is dormant'
  world.fiat.fiatpay.faults.setMode({ transfers: 'reject', rejectText })
  const ada = await verifiedCreator(world, 50)
  const { page, context, faults } = await openDashboard(open(), ada.session, '/dashboard/withdraw')
  await toReview(page, '10')
  await page.getByRole('button', { name: /^Withdraw \$/ }).click()
  await page.getByText(rejectText).first().waitFor()
  await page.getByText('Your balance is unchanged.').waitFor()
  t.is(await page.locator('main img').count(), 0)
  await checkAccessibility(t, page, 'dash-withdraw-refused')
  t.deepEqual(await readBalance(world, ada), { availableUSDC: 50, heldUSDC: 0 })
  await page.getByRole('button', { name: 'Use another account' }).click()
  await page.getByRole('heading', { name: 'To which account?' }).waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a large withdrawal is held, and the page explains why', async (t) => {
  const { world } = open()
  const ada = await verifiedCreator(world, 500)
  const { page, context } = await openDashboard(open(), ada.session, '/dashboard/withdraw')
  await toReview(page, '200')
  await page
    .getByText('Above ₦200,000.00, or ₦500,000.00 together within 24 hours, we verify you once')
    .waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'We need to verify you first.' }).waitFor()
  await page.getByText('Withdrawals above ₦200,000 (or ₦500,000 in a day) are checked once.').waitFor()
  await checkAccessibility(t, page, 'dash-withdraw-held')
  t.deepEqual(await readBalance(world, ada), { availableUSDC: 300, heldUSDC: 200 })
  await context.close()
})

test.serial('a withdrawal to another account waits for its code, or is cancelled', async (t) => {
  const { world } = open()
  world.fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const ada = await verifiedCreator(world, 60)
  await createWithdrawal(world, ada, { amountUSDC: 5 })
  await until('the first is sent', async () => (await listHistory(world, ada))[0]?.status !== 'pending')
  const { page, context, faults } = await openDashboard(open(), ada.session, '/dashboard/withdraw')
  await page.getByText('$55.00 available').waitFor()
  await page.getByRole('textbox', { name: /^Amount/ }).fill('10')
  await page.keyboard.press('Enter')
  await page.getByText('Another account').click()
  await page.getByRole('combobox', { name: 'Bank' }).click()
  await page.getByRole('option', { name: 'Guaranty Trust Bank' }).click()
  await page.getByRole('textbox', { name: 'Account number' }).fill('9876543210')
  await page.getByText('SANDBOX ACCOUNT').last().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Withdraw $10.00' }).click()
  await page.getByRole('heading', { name: 'Confirm this withdrawal' }).waitFor()
  await page.getByText('₦15,840.00 to Guaranty Trust Bank ••••3210. Is it you?').waitFor()
  const field = page.getByRole('textbox', { name: 'Code from the e-mail' })
  t.is(await field.getAttribute('autocomplete'), 'one-time-code')
  await assertBecomes(t, () => page.evaluate('document.activeElement.name'), 'code')
  await checkScreen(t, page, 'dash-withdraw-confirm')
  const before = await codeInQueue(world, 'withdrawal-code', ada.email)
  await field.fill(before === '000000' ? '000001' : '000000')
  await page.getByText('After five wrong ones none works').waitFor()
  await page.getByRole('button', { name: 'Send a new code' }).click()
  await page.getByText('We’ve e-mailed you new digits.').waitFor()
  const code = await codeInQueue(world, 'withdrawal-code', ada.email)
  await field.fill(` ${code.slice(0, 3)} ${code.slice(3)} `)
  await page.getByRole('heading', { name: 'The bank is transferring ₦15,840.00' }).waitFor()

  await createWithdrawal(world, ada, { amountUSDC: 20, accountNumber: '1111111111' })
  await page.reload()
  await page.getByRole('button', { name: /^₦31,680.00/ }).click()
  await page.getByRole('button', { name: 'Cancel this withdrawal' }).click()
  const question = page.getByRole('dialog', { name: 'Cancel this withdrawal?' })
  await checkScreen(t, page, 'dash-withdraw-cancel')
  await page.goBack()
  await question.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Cancel this withdrawal' }).click()
  await question.getByRole('button', { name: 'Cancel the withdrawal' }).click()
  await page.getByText('You cancelled this withdrawal.').first().waitFor()
  t.like(await readBalance(world, ada), { availableUSDC: 45 })

  const payees = page.getByRole('region', { name: 'Bank accounts' })
  const remove = payees.getByRole('button', { name: 'Remove Guaranty Trust Bank ••••3210' })
  await remove.click()
  const removal = page.getByRole('dialog', { name: 'Remove Guaranty Trust Bank ••••3210?' })
  await checkScreen(t, page, 'dash-payee-remove')
  await removal.getByRole('button', { name: 'Remove' }).click()
  await removal.waitFor({ state: 'detached' })
  await remove.waitFor({ state: 'detached' })
  await waitForHeading(page, 'Bank accounts')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('an amount or account that cannot be used shows a fault at its field', async (t) => {
  const { world } = open()
  const ada = await verifiedCreator(world, 5)
  const { page, context } = await openDashboard(open(), ada.session, '/dashboard/withdraw')
  await page.getByText('$5.00 available').waitFor()
  const amount = page.getByRole('textbox', { name: /^Amount/ })
  for (const [typed, fault] of [
    ['', 'Enter an amount'],
    ['lots', 'Enter an amount'],
    ['1,000', 'This can be read in two ways.'],
    ['5.01', 'This is more than you have available.'],
    ['0.01', 'Too little'],
  ] as const) {
    await amount.fill(typed)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: fault }).waitFor()
  }
  await checkAccessibility(t, page, 'dash-withdraw-fault')
  await page.getByRole('button', { name: 'Max' }).click()
  await assertBecomes(t, () => amount.inputValue(), '5')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('combobox', { name: 'Bank' }).click()
  await page.getByRole('option', { name: 'Wema Bank' }).click()
  await page.getByRole('textbox', { name: 'Account number' }).fill('0000000000')
  await page.getByText('This bank has no account with this number.').first().waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('heading', { name: 'To which account?' }).waitFor()
  await checkAccessibility(t, page, 'dash-withdraw-no-account')
  await page.reload()
  await page.getByText('This bank has no account with this number.').first().waitFor()
  await assertBecomes(t, () => page.getByRole('combobox', { name: 'Bank' }).inputValue(), 'Wema Bank')
  t.regex(await stored(page), /0000000000/)
  await page.getByText('Ada Lovelace').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.is(await stored(page), '[{},{}]')
  await context.close()
})

test.serial('the page of a confirmation mail sends the withdrawal of who is not signed in', async (t) => {
  const { world } = open()
  const ada = await verifiedCreator(world, 20)
  await createWithdrawal(world, ada, { amountUSDC: 5 })
  const { reference } = await createWithdrawal(world, ada, { amountUSDC: 5, accountNumber: '9876543210' })
  const mail = await world.db('emails').where({ recipient: ada.email, kind: 'withdrawal-code' }).first()
  const path = /\/dashboard#confirm-withdrawal=[\w-]+/.exec(mailText(mail))?.[0] ?? ''
  const { page, context, faults } = await openDashboard(open(), undefined, path)
  await page.getByRole('heading', { name: 'Confirm your withdrawal' }).waitFor()
  await checkScreen(t, page, 'dash-link-confirm-withdrawal')
  t.is(countExecutions(world, reference), 0)
  await page.getByRole('button', { name: 'Confirm the withdrawal' }).click()
  await waitForHeading(page, 'Your withdrawal is confirmed')
  await until('it is sent', () => countExecutions(world, reference) === 1)
  t.deepEqual(faults, [])
  await context.close()
})
