import test from 'ava'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { openDashboard, signIn, signOut } from '../helpers/browser/dashboard.js'
import { assertBecomes, tabTo, waitForHeading } from '../helpers/browser/on-page.js'
import { freshEmail, provisionerBatch, registerCreator, registerPerson } from '../helpers/make/creators.js'
import { deliverEmail, requestCode, wrongCode } from '../helpers/make/sign-in/emailed-codes.js'
import { assignDomain, createHolder, freshDomain, signText } from '../helpers/make/sol-domains.js'
import { runBatch } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test, { mail: true })

test.serial('registering, the wallet, creating a key and revoking it work by keyboard alone', async (t) => {
  const { world } = open()
  const { page, context, faults } = await openDashboard(open(), undefined, '/dashboard#register')
  const email = freshEmail()
  const { keyboard } = page
  await page.getByRole('heading', { name: 'Make an account' }).waitFor()
  await tabTo(t, page, 'name')
  await keyboard.type('Ada Obi')
  await tabTo(t, page, 'email')
  await keyboard.type(email)
  await tabTo(t, page, 'password')
  await keyboard.type('four random words')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByText('Your wallet is being prepared…').waitFor()
  await runBatch(provisionerBatch(world))
  await page.getByText('Your wallet is ready').waitFor()
  const user = await world.db('users').where({ email }).first()
  t.is(user.name, 'Ada Obi')

  await tabTo(t, page, 'Developers')
  await keyboard.press('Enter')
  await waitForHeading(page, 'Developers')
  await tabTo(t, page, 'label')
  await keyboard.type('My shop')
  await keyboard.press('Enter')
  const secret = page.getByText(/^tk_live_[0-9a-f]{16}_[\w-]{43}$/)
  await secret.waitFor()
  const apiKey = (await secret.textContent()) ?? ''
  await keyboard.press('Escape')
  t.true(await secret.isVisible(), 'it does not close before it is stored')
  await checkAccessibility(t, page, 'dash-new-key')
  await tabTo(t, page, 'I’ve stored it')
  await keyboard.press('Enter')
  await secret.waitFor({ state: 'detached' })
  t.is((await world.request('GET', `/sdk/events?creatorId=${user.id}`, { bearer: apiKey })).status, 200)
  t.false((await page.content()).includes(apiKey))

  await tabTo(t, page, /^Revoke$/)
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(t, page, 'prefix')
  await keyboard.type('wrong')
  await keyboard.press('Enter')
  await page
    .getByRole('alert')
    .filter({ hasText: /^This is not the prefix of the key\.$/ })
    .waitFor()
  await checkAccessibility(t, page, 'dash-revoke')
  await page.getByRole('textbox', { name: /^Type/ }).fill('')
  await keyboard.type(apiKey.split('_')[2] ?? '')
  await keyboard.press('Enter')
  await page.getByText('No keys yet.').waitFor()
  t.is((await world.request('GET', `/sdk/events?creatorId=${user.id}`, { bearer: apiKey })).status, 401)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('sites are validated while typing, added and removed', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/developers')
  const stored = async (): Promise<string[]> =>
    (await world.request<{ domains: string[] }>('GET', '/creators/domains', { session: person.session })).body
      .domains
  const field = page.getByRole('textbox', { name: 'Domain' })
  await field.fill('not a domain')
  await page.getByText('This is no domain.').waitFor()
  t.is(await field.getAttribute('aria-invalid'), 'true')
  await field.fill('https://Shop.Example:8443/pay?x=1')
  await page.getByText('Will be added as shop.example:8443').waitFor()
  await field.press('Enter')
  await page.getByRole('button', { name: 'Remove shop.example:8443' }).waitFor()
  await field.fill('*.sites.example')
  await field.press('Enter')
  await page.getByRole('button', { name: 'Remove *.sites.example' }).waitFor()
  t.deepEqual(await stored(), ['shop.example:8443', '*.sites.example'])
  await page.getByRole('button', { name: 'Remove shop.example:8443' }).click()
  await until('it is gone', async () => (await stored()).length === 1)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a site added before the list has loaded is kept when the list arrives', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session)
  let answer = (): void => undefined
  const late = new Promise<void>((done) => {
    answer = done
  })
  let asked = 0
  await page.route('**/creators/domains', async (route) => {
    const first = route.request().method() === 'GET' && asked++ === 0
    if (!first) return route.continue()
    const response = await route.fetch()
    await late
    await route.fulfill({ response })
  })
  await page.getByRole('link', { name: 'Developers', exact: true }).click()
  const field = page.getByRole('textbox', { name: 'Domain' })
  await field.fill('shop.example')
  await field.press('Enter')
  const remove = page.getByRole('button', { name: 'Remove shop.example' })
  await remove.waitFor()
  const listed = page.waitForResponse((response) => response.request().method() === 'GET')
  answer()
  await listed
  await field.fill('blog.example')
  await field.press('Enter')
  await page.getByRole('button', { name: 'Remove blog.example' }).waitFor()
  t.true(await remove.isVisible())
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('signing in works by password and by a pasted code, and wrong ones are refused', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context } = await openDashboard(open(), undefined)
  await page.getByRole('textbox', { name: 'E-mail' }).fill(person.email)
  const password = page.getByRole('textbox', { name: 'Password' })
  t.is(await password.getAttribute('type'), 'password')
  t.is(await password.getAttribute('autocomplete'), 'current-password')
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByText('Wrong e-mail address or password.').waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByText('Ada Lovelace').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()

  await page.getByRole('textbox', { name: 'E-mail' }).fill(person.email)
  await page.getByRole('button', { name: 'E-mail me a code' }).click()
  const field = page.getByRole('textbox', { name: 'Code from the e-mail' })
  await field.waitFor()
  t.is(await field.getAttribute('autocomplete'), 'one-time-code')
  const code = await requestCode(world, person)
  await field.fill(code === '000000' ? '000001' : '000000')
  await page.getByText('Wrong or expired code.').waitFor()
  await checkAccessibility(t, page, 'dash-code')
  await field.fill(` ${code.slice(0, 3)} ${code.slice(3)}`)
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await context.close()
})

test.serial('an answer that arrives after signing out does not show the account again', async (t) => {
  const { world } = open()
  const [person, other] = [await registerPerson(world), await registerPerson(world)]
  const { page, context, faults } = await openDashboard(open(), person.session)
  let answer = (): void => undefined
  const late = new Promise<void>((done) => {
    answer = done
  })
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  // The home page asks again while there is no wallet.
  await new Promise<void>((asked) => {
    void page.route('**/auth/security', async (route) => {
      const response = await route.fetch()
      asked()
      await late
      await route.fulfill({ response })
    })
  })
  await signOut(page)
  const arrived = page.waitForResponse('**/auth/security')
  answer()
  await arrived
  await signIn(page, other)
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByText('Ada Lovelace').click()
  await page.getByText(other.email).first().waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('after a session ended, signing in again keeps a half-filled form', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context } = await openDashboard(open(), person.session, '/dashboard/settings')
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('Ada of Lagos')
  await world.request('POST', '/auth/logout', { session: person.session })
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.waitFor()
  await checkAccessibility(t, page, 'dash-session-end')
  await dialog.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  t.is(await name.inputValue(), 'Ada of Lagos')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  t.is((await world.db('users').where({ id: person.user.id }).first()).name, 'Ada of Lagos')
  await context.close()
})

test.serial(
  'unsaved settings ask before they are left by a link, Back, closing or signing out',
  async (t) => {
    const { world } = open()
    const person = await registerPerson(world)
    const { page, context, faults } = await openDashboard(open(), person.session)
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    const name = page.getByRole('textbox', { name: 'Name' })
    await name.fill('Ada of Lagos')
    const questions: string[] = []
    let leave = false
    page.on('dialog', (dialog) => {
      questions.push(dialog.message())
      return leave ? dialog.accept() : dialog.dismiss()
    })
    await page.getByRole('link', { name: 'Tips', exact: true }).click()
    await page.goBack()
    await until('both were asked', () => questions.length === 2)
    t.is(await name.inputValue(), 'Ada of Lagos')
    t.true(page.url().endsWith('/dashboard/settings'))
    const [closing] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })])
    t.is(closing.type(), 'beforeunload')
    await page.getByText('Ada Lovelace').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await until('it was asked before signing out', () => questions.length === 4)
    await page.getByText('Ada Lovelace').click()
    t.is(await name.inputValue(), 'Ada of Lagos')
    leave = true
    await page.getByRole('link', { name: 'Tips', exact: true }).click()
    await waitForHeading(page, 'Tips')
    // The browser words the question of a closing tab itself.
    t.deepEqual(new Set(questions), new Set(['Your changes are not saved. Leave without saving them?', '']))
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await name.fill('Ada of Abuja')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Saved' }).waitFor()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await waitForHeading(page, 'Home')
    t.is(questions.length, 5, 'what is saved is not asked about')
    t.deepEqual(faults, [])
    await context.close()
  },
)

test.serial('a mailed sign-in link signs in by its button, once', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const code = await requestCode(world, person)
  for (let n = 1; n <= 6; n++) {
    const body = { email: person.email, code: wrongCode(code, n) }
    await world.request('POST', '/auth/otp/verify', { body })
  }
  await world.request('POST', '/auth/otp/start', { body: { email: person.email } })
  const { text } = await deliverEmail(world, person.email)
  const path = /\/dashboard#sign-in=[\w-]{43}/.exec(text)?.[0] ?? ''
  const { page, context, faults } = await openDashboard(open(), undefined, path)
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  await checkAccessibility(t, page, 'dash-link')
  await assertBecomes(t, async () => page.url().includes('sign-in='), false)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await context.clearCookies()
  await page.goto(`${world.url}/docs`)
  await page.goto(world.url + path)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('This link has been used or is too old.').waitFor()
  await checkAccessibility(t, page, 'dash-link-used')
  t.deepEqual(await page.getByRole('button').allInnerTexts(), ['Ask for a new link'])
  await page.getByRole('button', { name: 'Ask for a new link' }).click()
  await page.getByRole('button', { name: 'E-mail me a code' }).waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('the smallest tip is saved as typed, and an ambiguous number is not saved', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/settings')
  const stored = async (): Promise<{ minTipUsd?: number }> =>
    (await world.db('users').where({ id: person.user.id }).first()).settings
  const smallest = page.getByRole('textbox', { name: 'Smallest tip' })
  const changes: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') changes.push(request.url())
  })
  await smallest.pressSequentially('1,000')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This can be read in two ways.' }).waitFor()
  await checkAccessibility(t, page, 'dash-settings-fault')
  await smallest.fill('')
  await smallest.pressSequentially('1,5')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  t.is((await stored()).minTipUsd, 1.5)
  t.is(changes.length, 1)
  t.is(await smallest.inputValue(), '1.5')
  await smallest.fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  t.is((await stored()).minTipUsd ?? null, null)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a .sol domain is linked directly or by a signature of its owner, and unlinked', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  const [own, foreign, holder] = [freshDomain(), freshDomain(), createHolder()]
  await assignDomain(world.sandbox, own, creator.wallet)
  await assignDomain(world.sandbox, foreign, holder.address)
  const { page, context, faults } = await openDashboard(open(), creator.session, '/dashboard/settings')
  const card = page.getByRole('region', { name: 'Your .sol domain' })
  const linked = async (): Promise<string | null> =>
    (await world.db('users').where({ id: creator.user.id }).first()).sol_domain
  const link = async (domain: string): Promise<void> => {
    await card.getByRole('textbox', { name: 'Domain' }).fill(domain)
    await card.getByRole('button', { name: 'Link', exact: true }).click()
  }
  await link(own)
  await card.getByText(own).waitFor()
  t.is(await linked(), own)
  await card.getByRole('button', { name: 'Unlink' }).click()
  await link(foreign)
  await card.getByText('This domain belongs to another wallet.').waitFor()
  await checkAccessibility(t, page, 'dash-sol-domain')
  const message = (await card.locator('code').textContent()) ?? ''
  await card.getByRole('textbox', { name: 'Signature (base58)' }).fill(signText(createHolder(), message))
  await card.getByRole('button', { name: 'Link', exact: true }).click()
  await card
    .getByText('The domain doesn’t lead to your wallet, and the signature isn’t its owner’s.')
    .waitFor()
  t.is(await linked(), null)
  await card.getByRole('textbox', { name: 'Signature (base58)' }).fill(signText(holder, message))
  await card.getByRole('button', { name: 'Link', exact: true }).click()
  await card.getByRole('button', { name: 'Unlink' }).waitFor()
  t.is(await linked(), foreign)
  t.deepEqual(faults, [])
  await context.close()
})
