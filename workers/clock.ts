import cron from 'node-cron'
import { deleteExpired } from '../src/accounts/delete-expired.js'
import { expireFiat, forgetRates } from '../src/fiat/intents/expire-intents.js'
import { ExchangeRates } from '../src/market/exchange-rates.js'
import { TokenPrices } from '../src/market/token-prices.js'
import { deleteExpiredKeys } from '../src/platform/database/idempotency-keys.js'
import { forgetSdkSessions } from '../src/sdk/session.js'
import type { Services } from '../src/services.js'
import { compareTransfers } from '../src/withdrawals/reconcile/compare-statement.js'
import { BankList } from '../src/withdrawals/request/banks.js'
import { measureWork } from './measure-work.js'
import { createBooksWatch } from './watch-books.js'

/**
 * What happens by the clock: last known prices for lists and names of banks for the history, the end of unpaid fiat
 * intents, how long the oldest due row of each kind has waited, whether the books hold, once a day whether the payout
 * provider's list is ours, and the end of what has long expired. Schedules live here and state in rows; any number of clocks may run. Returns how to stop.
 */
export function startClock(services: Services): () => Promise<void> {
  const prices = new TokenPrices(services)
  const rates = new ExchangeRates(services)
  const banks = new BankList(services)
  const watchBooks = createBooksWatch(services)
  const onError = (error: unknown): void =>
    services.log.warn({ err: error }, 'a scheduled task failed; it runs again')
  const schedules: readonly [name: string, times: string, run: () => Promise<unknown>][] = [
    ['prices', '*/15 * * * * *', () => prices.refresh()],
    ['work', '*/15 * * * * *', () => measureWork(services)],
    ['fiat', '*/15 * * * * *', () => expireFiat(services)],
    // Nobody may ask for days, and a jump is told only from a rate under a day old.
    ['rates', '45 */10 * * * *', () => rates.refresh()],
    // The book asks once an hour; this often it looks whether a provider that was away has come back.
    ['banks', '5-59/15 * * * * *', () => banks.banks()],
    ['forget-rates', '23 * * * *', () => forgetRates(services)],
    ['books', '30 * * * * *', watchBooks],
    ['idempotency-keys', '*/15 * * * * *', () => deleteExpiredKeys(services.db)],
    ['sdk-sessions', '17 * * * *', () => forgetSdkSessions(services.db)],
    ['compare-payouts', '0 41 3 * * *', () => compareTransfers(services)],
    ['clean-up', '30 */10 * * * *', () => deleteExpired(services)],
  ]
  const tasks = schedules.map(([name, times, run]) =>
    cron.schedule(times, () => run().then(() => undefined, onError), { name, noOverlap: true }),
  )
  for (const atOnce of [() => prices.refresh(), () => banks.banks()]) void atOnce().catch(onError)
  return async () => {
    await Promise.all(tasks.map((task) => task.destroy()))
  }
}
