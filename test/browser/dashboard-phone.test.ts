import { readFileSync } from 'node:fs'
import test from 'ava'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkScreen } from '../helpers/browser/check-accessibility.js'
import {
  cardOf,
  creatorWithHistory,
  type DashboardPage,
  openDashboard,
} from '../helpers/browser/dashboard.js'
import { assertBecomes, clickButton, heading, waitForHeading } from '../helpers/browser/on-page.js'
import { createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { until } from '../helpers/until.js'

/** The dashboard in a hand: 360 px wide, with what a phone's browser offers. */
const open = useBrowser(test)

const phone = { width: 360, height: 740 }

/** What the page asked the phone for. */
interface Asked {
  readonly shared: { readonly url: string }[]
  readonly notices: string[]
  readonly sounds: number
}

/** A phone's share sheet, notices and sound, which only remember what they were asked; and whether the page is looked at. */
const phoneParts = `{
  const asked = (globalThis.asked = { shared: [], notices: [], sounds: 0 })
  navigator.share = async (what) => void asked.shared.push(what)
  class Notice {
    static permission = 'default'
    static requestPermission = async () => (Notice.permission = globalThis.refuses ? 'denied' : 'granted')
    constructor(title, { body }) { asked.notices.push(title + ': ' + body) }
  }
  globalThis.Notification = Notice
  const Sound = globalThis.AudioContext
  globalThis.AudioContext = class extends Sound { constructor() { super(); asked.sounds += 1 } }
  let away = false
  Object.defineProperty(document, 'hidden', { get: () => away })
  globalThis.lookAway = (is) => { away = is; document.dispatchEvent(new Event('visibilitychange')) }
}`
const asked = (page: Page) => page.evaluate<Asked>('asked')

async function onPhone({ session }: Pick<TestCreator, 'session'>, path?: string): Promise<DashboardPage> {
  const opened = await openDashboard(open(), undefined)
  await opened.page.setViewportSize(phone)
  await opened.page.addInitScript(phoneParts)
  await opened.context.addCookies([
    { name: 'session', value: session ?? '', url: open().world.url, httpOnly: true },
  ])
  await opened.page.goto(open().world.url + (path ?? '/dashboard'))
  return opened
}

const navigation = (page: Page) => page.getByRole('navigation')
async function openScreen(page: Page, name: string): Promise<void> {
  await navigation(page).getByRole('link', { name: 'More', exact: true }).click()
  await page
    .getByRole('main')
    .getByRole('link', { name: new RegExp(`^${name}`) })
    .click()
  await waitForHeading(page, name)
}

test.serial('a new creator has a link, a picture and a code to print, and ends with an alert', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  const { page, context, faults } = await onPhone(creator)
  await heading(page, 'Set up').waitFor()
  const links = navigation(page).getByRole('link')
  t.deepEqual(await links.allInnerTexts(), ['Home', 'Tips', 'Withdraw', 'More'])
  for (const link of await links.all()) {
    const box = await link.boundingBox()
    t.true(box !== null && box.y > 640 && box.y + box.height <= 740 && box.height >= 44, 'under the thumb')
  }
  await checkScreen(t, page, 'phone-first')

  const field = page.getByRole('textbox', { name: 'Your handle' })
  t.is(await field.inputValue(), 'adalovelace', 'made of the name')
  await field.fill('paypa1')
  await clickButton(page, 'Save my link')
  await page
    .getByRole('alert')
    .filter({ hasText: /^“paypa1” is reserved/ })
    .waitFor()
  const handle = `ada_${creator.user.id.slice(0, 8)}`
  await field.fill(` @${handle.toUpperCase()}`)
  await page.keyboard.press('Enter')
  const card = cardOf(page, 'Your link')
  await card.waitFor()
  const url = (await card.getByRole('link', { name: `/@${handle}` }).getAttribute('href')) ?? ''
  t.true(url.endsWith(`/@${handle}`))
  await card.getByRole('button', { name: 'Share it' }).click()
  t.deepEqual(
    (await asked(page)).shared.map((one) => one.url),
    [url],
  )
  await checkScreen(t, page, 'phone-link')

  await card.getByRole('link', { name: 'Picture, words, QR code' }).click()
  await waitForHeading(page, 'Page')
  // A photo as phones make them: some megabytes.
  const noise = {
    width: 2400,
    height: 1800,
    channels: 3,
    background: '#888',
    noise: { type: 'gaussian', mean: 128, sigma: 60 },
  } as const
  const photo = await sharp({ create: noise }).jpeg({ quality: 95 }).toBuffer()
  const sent = page.waitForRequest((request) => request.method() === 'PUT')
  const chooser = page.locator('input[type=file]')
  await page.getByRole('button', { name: 'Choose a picture' }).waitFor()
  await chooser.setInputFiles({ name: 'me.jpg', mimeType: 'image/jpeg', buffer: photo })
  t.true(((await sent).postDataBuffer()?.length ?? 0) < 1_000_000, 'made small before it is sent')
  await page.getByRole('img', { name: /^Picture of/ }).waitFor()
  await page.getByRole('button', { name: 'Choose another one' }).waitFor()
  await chooser.setInputFiles({
    name: 'evil.jpg',
    mimeType: 'image/jpeg',
    buffer: Buffer.from('<svg onload=alert(1)>'),
  })
  await page.getByRole('alert').filter({ hasText: 'That isn’t a JPEG, PNG or WebP picture' }).waitFor()

  await page.getByRole('textbox', { name: 'About you' }).fill('I draw maps of Lagos.')
  await clickButton(page, 'Add a link')
  await page.getByRole('textbox', { name: 'Name of link 1' }).fill('Maps')
  await page.getByRole('textbox', { name: 'Address of link 1' }).fill('javascript:alert(1)')
  await page.getByRole('textbox', { name: 'What you save for' }).fill('A new tablet')
  await page.getByRole('textbox', { name: 'How much (dollars)' }).fill('250')
  await page.getByRole('checkbox', { name: 'Show who tipped me' }).check()
  await page.getByLabel('Language of your page').selectOption('Français')
  await clickButton(page, 'Save')
  await page.getByRole('alert').filter({ hasText: 'a link isn’t an address' }).waitFor()
  await page.getByRole('textbox', { name: 'Address of link 1' }).fill('maps.example/ada')
  await clickButton(page, 'Save')
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  const stored = await world.request<{ page: object }>('GET', '/creators/page', creator)
  t.like(stored.body.page, {
    handle,
    words: 'I draw maps of Lagos.',
    links: [{ title: 'Maps', url: 'https://maps.example/ada' }],
    goal: { title: 'A new tablet', amountUsd: 250, raisedUsd: 0 },
    wall: true,
    language: 'fr',
  })
  await checkScreen(t, page, 'phone-page')

  const saving = page.waitForEvent('download')
  await page.getByRole('link', { name: 'qr.svg' }).click()
  t.regex(readFileSync(await (await saving).path(), 'utf8'), /<svg.*<path/s)
  await page.emulateMedia({ media: 'print' })
  t.true(await page.getByRole('img', { name: `/@${handle}` }).isVisible())
  for (const unprinted of [
    navigation(page),
    page.getByText('What your page says'),
    heading(page, 'Your link'),
  ])
    t.false(await unprinted.first().isVisible())
  await page.emulateMedia({ media: 'screen' })

  await openScreen(page, 'Overlay')
  await Promise.all([
    page.waitForResponse(/\/creators\/overlay\/test$/),
    clickButton(page, 'Send a test alert'),
  ])
  await navigation(page).getByRole('link', { name: 'Home', exact: true }).click()
  await page.locator('.steps__step--done', { hasText: 'See a tip on your stream' }).waitFor()
  t.deepEqual(faults, [])
  await context.close()
})

test.serial(
  'new tips are counted in the title, and told by notice and sound to who wants that',
  async (t) => {
    const { world } = open()
    const creator = await registerCreator(world)
    const { page, context, faults } = await onPhone(creator)
    await page.getByText('Connected').waitFor()
    const tip = (message: string) => createConfirmedSolTips(world.services, [creator.wallet], { message })
    await page.evaluate('lookAway(true)')
    await tip('nobody looks')
    await assertBecomes(t, () => page.title(), '(1) Home · Tips')
    t.deepEqual(await asked(page), { shared: [], notices: [], sounds: 0 }, 'nothing that was not chosen')
    await page.evaluate('lookAway(false)')
    await assertBecomes(t, () => page.title(), 'Home · Tips')

    await openScreen(page, 'Settings')
    const card = cardOf(page, 'In this browser')
    await page.evaluate('globalThis.refuses = true')
    await card.getByText('Show a notice for a new tip').click()
    await card.getByRole('alert').filter({ hasText: 'This browser doesn’t let us show notices.' }).waitFor()
    t.false(await card.getByRole('checkbox', { name: 'Show a notice' }).isChecked())
    await page.evaluate('globalThis.refuses = false')
    await card.getByText('Show a notice for a new tip').click()
    await until('the example is shown', async () => (await asked(page)).notices.length === 1)
    await card.getByText('Play a sound').click()
    await checkScreen(t, page, 'phone-settings')

    await page.evaluate('lookAway(true)')
    await tip('while away')
    await until('it is told', async () => (await asked(page)).notices.length === 2)
    t.regex((await asked(page)).notices[1] ?? '', /^New tip: \$[\d.]+: .{9} “while away”$/)
    await assertBecomes(t, () => page.title(), '(1) Settings · Tips')
    t.is((await asked(page)).sounds, 2)
    t.deepEqual(faults, [])
    await context.close()
  },
)

test.serial(
  'a supporter’s history is one press away, and the year is a page to print and a file',
  async (t) => {
    const { world } = open()
    const creator = await creatorWithHistory(world)
    const { page, context, faults } = await onPhone(creator, '/dashboard/tips')
    await page.getByRole('button', { name: /Tobi Adeyemi/ }).click()
    await clickButton(page, 'All tips from them')
    await heading(page, 'Tips from Tobi Adeyemi').waitFor()
    await page.getByText('1 tip, $5.00').waitFor()
    t.is(await page.locator('.tip-row').count(), 1)
    t.is(new URL(page.url()).searchParams.get('sender'), 'Tobi Adeyemi')
    await checkScreen(t, page, 'phone-supporter')
    await clickButton(page, 'Show everybody’s')
    await page.locator('.tip-row').nth(3).waitFor()

    await openScreen(page, 'Statement')
    const year = new Date().getFullYear()
    await heading(page, `Statement for ${year}`).waitFor()
    const total = page.getByRole('row', { name: /^Year/ })
    await total.waitFor()
    t.true(await page.getByRole('row', { name: /^Before/ }).isVisible())
    const { body } = await world.request<{ statement: { totals: { tips: number }; closingUSDC: number } }>(
      'GET',
      `/creators/statement?year=${year}`,
      creator,
    )
    const { totals, closingUSDC } = body.statement
    t.is(await total.getByRole('cell').first().innerText(), String(totals.tips))
    const shown = closingUSDC.toLocaleString('en-US', { style: 'currency', currency: 'USD' })
    t.is(await total.getByRole('cell').last().innerText(), shown)
    await checkScreen(t, page, 'phone-statement')
    const saving = page.waitForEvent('download')
    await clickButton(page, 'Save as CSV')
    t.regex(readFileSync(await (await saving).path(), 'utf8'), /^month,tips,.*\r\ntotal,/s)
    await page.emulateMedia({ media: 'print' })
    t.true(await total.isVisible())
    t.false(await navigation(page).first().isVisible())
    t.false(await page.getByRole('button', { name: 'Print' }).isVisible())
    t.deepEqual(faults, [])
    await context.close()
  },
)
