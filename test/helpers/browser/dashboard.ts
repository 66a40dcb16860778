import type { BrowserContext, Page } from 'playwright-core'
import { createApiKey } from '../../../src/creators/api-keys.js'
import { solMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { confirmAll, someConfirmation } from '../make/confirmations.js'
import { registerCreator, type TestCreator } from '../make/creators.js'
import { fiatIntent, pay, settleNow } from '../make/fiat-tips.js'
import { fund } from '../make/payouts.js'
import type { World } from '../servers/world.js'
import { type BrowserWorld, faultsOf, patienceMs } from './browser.js'

const viewport = { width: 1000, height: 900 }

export interface Desk {
  readonly context: BrowserContext
  readonly page: Page
  /** What went wrong in any script, policies included. */
  readonly faults: readonly string[]
}

/** A creator's browser at the dashboard; without a session at its door. */
export async function openDashboard(
  { browser, world }: BrowserWorld,
  session: string | undefined,
  path = '/dashboard',
): Promise<Desk> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', locale: 'en-GB' })
  context.setDefaultTimeout(patienceMs)
  if (session !== undefined)
    await context.addCookies([{ name: 'session', value: session, url: world.url, httpOnly: true }])
  const page = await context.newPage()
  const faults = faultsOf(context)
  await page.goto(world.url + path)
  return { context, page, faults }
}

/** A creator with some history: a month of tips of all kinds, a balance, a key. */
export async function seasonedCreator(world: World): Promise<TestCreator> {
  const creator = await registerCreator(world)
  await world.db('users').where({ id: creator.user.id }).update({ email_verified_at: new Date() })
  await world
    .db('prices')
    .insert({ mint: solMint, usd: '150', source: 'test', as_of: new Date() })
    .onConflict('mint')
    .merge()
  await fund(world, creator.user.id, 482_100_000n)
  await createApiKey(world.services, creator.user.id, 'My website')
  for (let day = 29; day >= 0; day--) await plantDay(world, creator, day)
  const intent = await fiatIntent(world, {
    creatorId: creator.user.id,
    amount: 5,
    senderName: 'Tobi Adeyemi',
    memo: 'Great show! Greetings from Ibadan.',
  })
  pay(world, intent.intentId)
  await settleNow(world, intent.intentId)
  await fiatIntent(world, { creatorId: creator.user.id, amount: 12, senderName: 'Ngozi' })
  return creator
}

/** Some tips of so many days ago; the same ones in every run. */
async function plantDay(world: World, { wallet }: TestCreator, daysAgo: number): Promise<void> {
  const sol = tokenBySymbol('SOL')
  const count = [1, 2, 0, 3, 1, 4, 2][daysAgo % 7] ?? 1
  const confirmations = Array.from({ length: count }, (_, at) =>
    at === 0 && sol !== undefined
      ? someConfirmation(wallet, { token: sol, units: BigInt(20 + ((daysAgo * 7) % 50)) * 1_000_000n })
      : someConfirmation(wallet, { units: BigInt(1 + ((daysAgo * 3 + at) % 9)) * 1_000_000n }),
  )
  if (count === 0) return
  await confirmAll(world, confirmations)
  await world
    .db('tips')
    .whereIn(
      'id',
      confirmations.map(({ id }) => id),
    )
    .update({ recorded_at: new Date(Date.now() - daysAgo * 24 * 3600 * 1000 - 60_000) })
}
