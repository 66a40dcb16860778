import type { FloatReading } from '../float/float-readings.js'
import { makeReport, type ReportNeeds } from './make-report.js'
import { hasDailyReport } from './report-rows.js'
import type { ReportSigner } from './signing.js'

/**
 * Makes the report of the day if there is none yet. Runs every hour, so one that could not be made follows later. Until then nobody
 * compares the wallets with the chain, so that alarms.
 */
export function createDailyReport(
  services: ReportNeeds,
  signer: ReportSigner,
  readFloat: () => Promise<FloatReading | undefined>,
): () => Promise<void> {
  return async () => {
    if (await hasDailyReport(services.db)) return
    try {
      await makeReport(services, { signer, readFloat, daily: true })
    } catch (error) {
      services.metrics.alerts.inc({ kind: 'reserve_report_failed' })
      throw error
    }
  }
}
