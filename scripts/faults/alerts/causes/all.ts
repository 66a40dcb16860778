import type { Cause } from './cause.js'
import { clockCauses } from './clock.js'
import { moneyCauses } from './money.js'
import { databaseAway, providerCauses } from './providers.js'
import { stateCauses } from './state.js'

/** In this order: what needs money of the creators comes before what stops everything. */
export const causes: readonly Cause[] = [
  ...moneyCauses,
  ...stateCauses,
  ...providerCauses,
  ...clockCauses,
  databaseAway,
]

/** Rules whose causes are not made in the run. A test counts each by its cause, and promtool tests the rule. */
export const madeElsewhere: Readonly<Record<string, string>> = {
  collection_difference: 'test/fiat/disputes/dispute-answers.test.ts',
  payout_unknown: 'test/withdrawals/review/operator-actions.test.ts',
  sweep_undecided: 'test/treasury/sweeps.test.ts',
  export_failed: 'test/privacy/account.test.ts',
  float_low: 'test/reserves/float.test.ts',
  rpc_disagrees: 'test/tips/confirm/agreement.test.ts',
  swap_refused: 'test/intents/swap-engines.test.ts',
  reserves_short: 'test/reserves/reports.test.ts',
  reserve_report_failed: 'test/reserves/reports.test.ts',
}
