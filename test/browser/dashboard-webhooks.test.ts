import test from 'ava'
import { Webhook } from 'standardwebhooks'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import { cardOf, openDashboard } from '../helpers/browser/dashboard.js'
import { clickButton, waitForAnnouncement } from '../helpers/browser/on-page.js'
import { registerCreator, registerPerson } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { recordEvents, startReceiver } from '../helpers/make/webhooks.js'
import { localTest } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const open = useBrowser(test, { workers: ['dispatcher'], env: localTest })

test.serial('a webhook is added, tested, fails, is repaired, gets a new secret and is deleted', async (t) => {
  const { world } = open()
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), person.session, '/dashboard/developers')
  const card = cardOf(page, 'Webhooks')
  const dialog = page.getByRole('dialog')
  const sent = (type: string) => receiver.received.filter(({ body }) => body.type === type)
  await card.getByText('No addresses yet.').waitFor()

  // A URL that is refused says why, at its field.
  await clickButton(card, 'Add an address')
  await dialog.getByRole('textbox', { name: 'URL' }).fill('http://shop.example/hooks')
  await clickButton(dialog, 'Add an address')
  await dialog.getByText('This must begin with https://.').waitFor()
  await dialog.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
  await dialog.getByRole('textbox', { name: 'Description' }).fill('Orders of my shop')
  await dialog.getByRole('radio', { name: 'Only these' }).check()
  await clickButton(dialog, 'Add an address')
  await dialog.getByText('Choose at least one.').waitFor()
  await dialog.getByRole('checkbox', { name: /tip\.confirmed/ }).check()
  await dialog.getByRole('checkbox', { name: /withdrawal\.completed/ }).check()
  await checkScreen(t, page, 'dash-webhook-form')
  await clickButton(dialog, 'Add an address')

  // The secret is shown once, and is the one that signs.
  await dialog.getByText('never shown again').waitFor()
  const [secret = '', publicKey = ''] = await dialog.locator('.secret').allInnerTexts()
  t.regex(publicKey, /^whpk_/)
  await checkScreen(t, page, 'dash-webhook-secret')
  await page.keyboard.press('Escape')
  await dialog.getByText('never shown again').waitFor()
  await clickButton(dialog, 'I’ve stored it')
  await until('the first ping has arrived', () => sent('ping').length === 1)
  for (const { text, headers } of receiver.received)
    t.notThrows(() => new Webhook(secret).verify(text, headers as Record<string, string>))
  await card.getByText('Working').waitFor()
  t.false((await page.content()).includes(secret))

  await card.getByRole('button', { name: /Orders of my shop/ }).click()
  await dialog.getByText('tip.confirmed, withdrawal.completed').waitFor()
  await clickButton(dialog, 'Send a test')
  await waitForAnnouncement(dialog, 'A test is on its way.')
  await until('the test has arrived', () => sent('ping').length === 2)
  await dialog.getByText('Arrived').nth(1).waitFor()

  // The server fails, and one delivery is sent again when it works.
  receiver.answer = (_, response) => response.writeHead(500).end('no money\nat line 3')
  await recordEvents(world, person.user.id, 1)
  await dialog.getByText('Failing since').waitFor()
  await dialog.getByText('Trying again').waitFor()
  await dialog.getByText(/1 try · answer 500 · next try/).waitFor()
  await dialog.getByText('no money', { exact: true }).waitFor()
  await checkScreen(t, page, 'dash-webhook')
  receiver.answer = (_, response) => response.end('ok')
  const before = sent('tip.confirmed').length
  await clickButton(dialog, /^Send tip\.confirmed #\d+ again$/)
  await waitForAnnouncement(dialog, '1 event is sent again.')
  await until('it has arrived again', () => sent('tip.confirmed').length > before)
  await dialog.getByText('Working').waitFor()
  t.is(new Set(sent('tip.confirmed').map(({ headers }) => headers['webhook-id'])).size, 1)

  // What waits when the address is turned on from now on counts as failed, and all of it can be sent again.
  receiver.answer = (_, response) => response.writeHead(503).end()
  await recordEvents(world, person.user.id, 2)
  await dialog.getByText('Trying again').nth(1).waitFor()
  await clickButton(dialog, 'Turn off')
  await dialog.getByText('You turned it off.').waitFor()
  t.is(await dialog.getByRole('button', { name: /again$/ }).count(), 0)
  await clickButton(dialog, 'Turn on')
  await dialog.getByRole('radio', { name: 'Only what comes from now on' }).check()
  await clickButton(dialog, 'Turn on')
  receiver.answer = (_, response) => response.end('ok')
  await dialog.getByRole('combobox', { name: 'deliveries' }).selectOption('Failed')
  await until('the two are shown', async () => (await dialog.locator('li').count()) === 2)
  await clickButton(dialog, 'Send all failed again')
  await waitForAnnouncement(dialog, '2 events are sent again.')
  await until(
    'all have arrived',
    () => new Set(sent('tip.confirmed').map(({ body }) => body.sequence)).size === 3,
  )
  await dialog.getByText('Nothing here.').waitFor()

  // Both secrets sign after a rotation.
  await clickButton(dialog, 'New secret')
  await dialog.getByText('For 24 hours we sign with both').waitFor()
  await clickButton(dialog, 'New secret')
  const once = page.getByRole('dialog', { name: 'The secret of this address' })
  await once.getByText('The old one works for 24 more hours.').waitFor()
  const newSecret = await once.locator('.secret').first().innerText()
  t.not(newSecret, secret)
  await clickButton(once, 'I’ve stored it')
  await dialog.getByText('still works until').waitFor()
  await clickButton(dialog, 'Send a test')
  await until('the third ping has arrived', () => sent('ping').length === 3)
  const { text = '', headers = {} } = sent('ping').at(-1) ?? {}
  for (const one of [secret, newSecret])
    t.notThrows(() => new Webhook(one).verify(text, headers as Record<string, string>))

  await clickButton(dialog, 'Delete')
  await dialog.getByText(`Nothing more is sent to ${receiver.url}/`).waitFor()
  await clickButton(dialog, 'Delete')
  await card.getByText('No addresses yet.').waitFor()
  t.is((await world.db('webhook_endpoints').where({ user_id: person.user.id })).length, 0)
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('the log shows the newest events, and new ones as they come', async (t) => {
  const { world } = open()
  const person = await registerPerson(world)
  const { page, context, faults } = await openDashboard(open(), undefined)
  await context.addCookies([{ name: 'session', value: person.session, url: world.url, httpOnly: true }])
  await recordEvents(world, person.user.id, 25)
  await page.goto(`${world.url}/dashboard/developers`)
  const rows = cardOf(page, 'Events Connected').locator('details')
  await rows.nth(19).waitFor()
  const numbers = async () =>
    (await rows.locator('summary').allInnerTexts()).map((text) => Number(/#(\d+)/.exec(text)?.[1]))
  const newestFirst = (newest: number) => Array.from({ length: 20 }, (_, place) => newest - place)
  t.deepEqual(await numbers(), newestFirst(25))
  await recordEvents(world, person.user.id, 1, 'balance.available')
  await rows.getByText('#26').waitFor()
  t.deepEqual(await numbers(), newestFirst(26))
  await rows.first().locator('summary').click()
  await rows.getByText('"type": "balance.available"').waitFor()
  await checkScreen(t, page, 'dash-events')
  t.deepEqual(faults, [])
  await context.close()
})

test.serial('a tip shows the reference of the integrator, which the search finds', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  for (const reference of ['order-41', 'order-42']) {
    const intent = await createFiatIntent(world, { creatorId: creator.user.id, amount: 5, reference })
    payFiatIntent(world, intent.intentId)
    await settleIntentNow(world, intent.intentId)
  }
  const { page, context, faults } = await openDashboard(open(), creator.session, '/dashboard/tips')
  await page.getByText('Your reference: order-41').waitFor()
  await page.getByRole('searchbox', { name: 'Search messages, senders and references' }).fill('ORDER-42')
  await page.getByText('Your reference: order-41').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /order-42/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Copy your reference' }).waitFor()
  await page.goto(`${world.url}/dashboard/developers`)
  await page
    .getByText(/^\$5 from .+ · order-42$/)
    .first()
    .waitFor()
  t.deepEqual(faults, [])
  await context.close()
})
