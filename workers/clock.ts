import cron from 'node-cron'
import { cleanUp } from '../src/accounts/clean-up.js'
import { expireFiat, forgetRates } from '../src/fiat/expire.js'
import { RateBook } from '../src/fiat/rate-book.js'
import { PriceBook } from '../src/payments/price-book.js'
import { compareTransfers } from '../src/payouts/compare.js'
import { sweepKeys } from '../src/platform/idempotency-keys.js'
import { forgetSdkSessions } from '../src/sdk/session.js'
import type { Services } from '../src/services.js'
import { measureWork } from './measure-work.js'
import { createBooksWatch } from './watch-books.js'

/**
 * What happens by the clock: last known prices for lists, the end of unpaid fiat intents, how long the oldest due row of each kind has waited,
 * whether the books hold, once a day whether the payout provider's list is ours, and the end of what has long expired. Schedules live here and state in rows; any number of
 * clocks may run. Returns how to stop.
 */
export function startClock(services: Services): () => Promise<void> {
  const prices = new PriceBook(services)
  const rates = new RateBook(services)
  const watchBooks = createBooksWatch(services)
  const onError = (error: unknown): void =>
    services.log.warn({ err: error }, 'a scheduled task failed; it runs again')
  const tasks = [
    cron.schedule('*/15 * * * * *', () => prices.refresh().catch(onError), {
      name: 'prices',
      noOverlap: true,
    }),
    cron.schedule('*/15 * * * * *', () => measureWork(services).catch(onError), {
      name: 'work',
      noOverlap: true,
    }),
    cron.schedule('*/15 * * * * *', () => expireFiat(services).catch(onError), {
      name: 'fiat',
      noOverlap: true,
    }),
    // Nobody may ask for days, and a jump is told only from a rate under a day old.
    cron.schedule('45 */10 * * * *', () => rates.refresh().catch(onError), {
      name: 'rates',
      noOverlap: true,
    }),
    cron.schedule('23 * * * *', () => forgetRates(services).catch(onError), {
      name: 'forget-rates',
      noOverlap: true,
    }),
    cron.schedule('30 * * * * *', () => watchBooks().catch(onError), { name: 'books', noOverlap: true }),
    cron.schedule('*/15 * * * * *', () => sweepKeys(services.db).then(() => undefined, onError), {
      name: 'idempotency-keys',
      noOverlap: true,
    }),
    cron.schedule('17 * * * *', () => forgetSdkSessions(services.db).catch(onError), {
      name: 'sdk-sessions',
      noOverlap: true,
    }),
    cron.schedule('0 41 3 * * *', () => compareTransfers(services).then(() => undefined, onError), {
      name: 'compare-payouts',
      noOverlap: true,
    }),
    cron.schedule('30 */10 * * * *', () => cleanUp(services).catch(onError), {
      name: 'clean-up',
      noOverlap: true,
    }),
  ]
  void prices.refresh().catch(onError)
  return async () => {
    await Promise.all(tasks.map((task) => task.destroy()))
  }
}
