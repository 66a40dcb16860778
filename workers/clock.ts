import { deleteExpired } from '../src/accounts/delete-expired.js'
import { composeRefundReader } from '../src/compose.js'
import { compareCollections } from '../src/fiat/disputes/compare-collections.js'
import { expireFiatIntents } from '../src/fiat/intents/expire-intents.js'
import { eraseOldPayers } from '../src/fiat/intents/payer.js'
import { createKeySigner } from '../src/kernel/signing-key.js'
import { deleteFinishedEmails } from '../src/mail/queue-email.js'
import { deleteOldRates } from '../src/market/accepted-rates.js'
import { ExchangeRates } from '../src/market/exchange-rates.js'
import { TokenPrices } from '../src/market/token-prices.js'
import { loadReportSigningKey } from '../src/platform/config/own-settings.js'
import { deleteExpiredKeys } from '../src/platform/database/idempotency-keys.js'
import { makePartitions } from '../src/platform/database/partitions.js'
import { markSeen } from '../src/platform/database/restore-guard.js'
import { beat } from '../src/platform/monitoring/measurements.js'
import { makeExports } from '../src/privacy/exports/make-exports.js'
import { deleteExpiredExports } from '../src/privacy/exports/request-export.js'
import { deleteOldPageHandles } from '../src/public-page/handle.js'
import { createMovedCheck } from '../src/reserves/after-restore.js'
import { deleteOldReadings } from '../src/reserves/float/float-readings.js'
import { createFloatReader } from '../src/reserves/float/read-float.js'
import { createDailyReport } from '../src/reserves/reports/make-report.js'
import { deleteOldSdkSessions } from '../src/sdk/sessions/session.js'
import type { Services } from '../src/services.js'
import { sendTipMails } from '../src/tips/mails/send-tip-mails.js'
import { deleteOldDeliveries } from '../src/webhooks/deliveries.js'
import { watchEndpoints } from '../src/webhooks/watch-endpoints.js'
import { compareTransfers } from '../src/withdrawals/reconcile/compare-statement.js'
import { BankList } from '../src/withdrawals/request/banks.js'
import { type Scheduled, schedule } from './schedule.js'
import { createBooksCheck } from './watch-books.js'

/** The tasks that see money that is missing: they must not fail unseen. */
const checks: readonly string[] = ['books', 'compare-payouts', 'compare-collections']

/**
 * Runs the scheduled tasks: says that it lives; refreshes prices, rates and bank names; expires fiat intents; mails creators about tips;
 * checks the ledger; reads the float and makes the reserve report of the day;
 * compares the provider's lists with ours once a day; deletes expired rows; makes the
 * files of exports; erases addresses of payers; disables webhooks that only fail; makes the partitions of the next months. All state is in rows, so any number of clocks may run. Returns how to stop.
 */
export function startClock(services: Services): () => Promise<void> {
  const prices = new TokenPrices(services)
  const rates = new ExchangeRates(services)
  const banks = new BankList(services)
  const checkLedger = createBooksCheck(services)
  const readFloat = createFloatReader(services)
  const reportDaily = createDailyReport(services, createKeySigner(loadReportSigningKey()), readFloat)
  const refunds = composeRefundReader(services.config)
  const onError = failureReport(services)
  const tasks: readonly Scheduled[] = [
    ['heartbeat', '*/10 * * * * *', () => beatAndSee(services)],
    ['moved', '6-59/10 * * * * *', createMovedCheck({ ...services, refunds })],
    ['prices', '*/15 * * * * *', () => prices.refresh()],
    ['fiat', '*/15 * * * * *', () => expireFiatIntents(services)],
    // Keeps the last rate under a day old even without requests: the guard against jumps compares with it.
    ['rates', '45 */10 * * * *', () => rates.refresh()],
    // The alarms look at the last 90 s.
    ['rates-again', '20,50 * * * * *', () => rates.refreshAfterFault()],
    // BankList requests the banks once an hour. The task runs more often to retry after a failure.
    ['banks', '5-59/15 * * * * *', () => banks.banks()],
    ['forget-rates', '23 * * * *', () => deleteOldRates(services)],
    ['books', '30 * * * * *', checkLedger],
    ['float', '50 * * * * *', readFloat],
    ['forget-float-readings', '27 * * * *', () => deleteOldReadings(services.db)],
    ['reserves', '5 13 * * * *', reportDaily],
    ['idempotency-keys', '*/15 * * * * *', () => deleteExpiredKeys(services.db)],
    ['page-handles', '37 * * * *', () => deleteOldPageHandles(services.db)],
    ['sdk-sessions', '17 * * * *', () => deleteOldSdkSessions(services.db)],
    ['compare-payouts', '0 41 3 * * *', () => compareTransfers(services)],
    ['compare-collections', '0 51 3 * * *', () => compareCollections({ ...services, refunds })],
    ['clean-up', '30 */10 * * * *', () => deleteExpired(services)],
    ['tip-mails', '10 * * * * *', () => sendTipMails(services)],
    ['emails', '40 */10 * * * *', () => deleteFinishedEmails(services)],
    ['exports', '8-59/15 * * * * *', () => makeExports(services)],
    ['expired-exports', '50 */10 * * * *', () => deleteExpiredExports(services)],
    ['webhooks', '13-59/15 * * * * *', () => watchEndpoints(services)],
    ['webhook-deliveries', '20 * * * * *', () => deleteOldDeliveries(services)],
    ['partitions', '0 13,43 * * * *', () => makePartitions(services.db)],
    ['payers', '3-59/15 * * * * *', () => eraseOldPayers(services)],
  ]
  const stop = schedule(tasks, onError)
  const atStart = [
    () => beatAndSee(services),
    () => prices.refresh(),
    () => banks.banks(),
    () => makePartitions(services.db),
  ]
  for (const runAtStart of atStart) void runAtStart().catch((error: unknown) => onError(error, 'start'))
  return stop
}

export function failureReport({ log, metrics }: Pick<Services, 'log' | 'metrics'>) {
  return (error: unknown, task: string): void => {
    log.warn({ err: error, task }, 'a scheduled task failed; it runs again at its next time')
    if (checks.includes(task)) metrics.alerts.inc({ kind: 'check_failed' })
  }
}

/** This clock lives, and the rows are where they were. */
async function beatAndSee({ db }: Pick<Services, 'db'>): Promise<void> {
  await beat(db)
  await markSeen(db)
}
