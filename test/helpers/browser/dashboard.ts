import type { BrowserContext, Page } from 'playwright-core'
import { createApiKey } from '../../../src/creators/api-keys.js'
import { solMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { createConfirmedTips, someConfirmation } from '../make/confirmed-tips.js'
import { type Person, registerCreator, type TestCreator } from '../make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../make/fiat/fiat-tips.js'
import { creditCreator } from '../make/withdrawals.js'
import type { World } from '../servers/world.js'
import { actionTimeoutMs, type BrowserWorld, collectPageErrors } from './browser.js'
import { heading } from './on-page.js'

const viewport = { width: 1000, height: 900 }

export interface DashboardPage {
  readonly context: BrowserContext
  readonly page: Page
  /** Script errors and policy violations. */
  readonly faults: readonly string[]
}

/**
 * Opens the dashboard in a new browser context. Without a session it shows the login page. Passkeys work at the public URL
 * only, which leads to the same service.
 */
export async function openDashboard(
  { browser, world }: BrowserWorld,
  session: string | undefined,
  path = '/dashboard',
  origin = world.url,
): Promise<DashboardPage> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', locale: 'en-GB' })
  context.setDefaultTimeout(actionTimeoutMs)
  if (session !== undefined)
    await context.addCookies([{ name: 'session', value: session, url: origin, httpOnly: true }])
  const page = await context.newPage()
  const faults = collectPageErrors(context)
  await page.goto(origin + path)
  return { context, page, faults }
}

/** Fills in the sign-in form. */
export async function signIn(
  page: Page,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.keyboard.press('Enter')
}

export async function signOut(page: Page): Promise<void> {
  await page.getByText('Ada Lovelace').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await heading(page, 'Sign in').waitFor()
}

/** The card with this heading. */
export const cardOf = (page: Page, name: string) =>
  page.locator('.card', { has: page.getByRole('heading', { name, exact: true }) })

/** Creates a creator with a month of tips of all kinds, a balance and an API key. */
export async function creatorWithHistory(world: World): Promise<TestCreator> {
  const creator = await registerCreator(world)
  await world.db('users').where({ id: creator.user.id }).update({ email_verified_at: new Date() })
  await world
    .db('prices')
    .insert({ mint: solMint, usd: '150', source: 'test', as_of: new Date() })
    .onConflict('mint')
    .merge()
  await creditCreator(world, creator.user.id, 482_100_000n)
  await createApiKey(world.services, creator.user.id, 'My website')
  for (let day = 29; day >= 0; day--) await createTipsOfDay(world, creator, day)
  const intent = await createFiatIntent(world, {
    creatorId: creator.user.id,
    amount: 5,
    senderName: 'Tobi Adeyemi',
    memo: 'Great show! Greetings from Ibadan.',
  })
  payFiatIntent(world, intent.intentId)
  await settleIntentNow(world, intent.intentId)
  await createFiatIntent(world, { creatorId: creator.user.id, amount: 12, senderName: 'Ngozi' })
  return creator
}

/** Creates the tips of one past day. They are the same in every run. */
async function createTipsOfDay(world: World, { wallet }: TestCreator, daysAgo: number): Promise<void> {
  const sol = tokenBySymbol('SOL')
  const count = [1, 2, 0, 3, 1, 4, 2][daysAgo % 7] ?? 1
  const confirmations = Array.from({ length: count }, (_, at) =>
    at === 0 && sol !== undefined
      ? someConfirmation(wallet, { token: sol, units: BigInt(20 + ((daysAgo * 7) % 50)) * 1_000_000n })
      : someConfirmation(wallet, { units: BigInt(1 + ((daysAgo * 3 + at) % 9)) * 1_000_000n }),
  )
  if (count === 0) return
  await createConfirmedTips(world, confirmations)
  await world
    .db('tips')
    .whereIn(
      'id',
      confirmations.map(({ id }) => id),
    )
    .update({ recorded_at: new Date(Date.now() - daysAgo * 24 * 3600 * 1000 - 60_000) })
}
