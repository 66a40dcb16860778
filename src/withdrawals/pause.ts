import { sqlList } from '../kernel/state-machine.js'
import { payoutsRun } from '../outgoing/guards.js'
import { sendableStates } from '../outgoing/lifecycle.js'
import { changeSwitch, type SwitchChange } from '../platform/database/switches/switches.js'
import type { UnitOfWork } from '../platform/database/transact.js'

/** Whether a withdrawal waits for a payout limit or the pause, as SQL that names `withdrawals` as `alias`. */
export function waitsForBreaker(alias: string): string {
  return /* sql */ `(${alias}.status = 'pending' and ${alias}.send_state in (${sqlList(sendableStates)})
    and (${alias}.breaker is not null or not (${payoutsRun})))`
}

/**
 * Pauses payouts: once this is committed no new request is sent, by no process (docs/decisions/0057). Withdrawals are accepted and
 * wait. Requests that have begun end. Also for alarms: `by` is then the alarm's kind. False: they are paused already.
 */
export function pausePayouts({ trx }: Pick<UnitOfWork, 'trx'>, change: SwitchChange): Promise<boolean> {
  return changeSwitch(trx, 'payouts', 'stopped', change)
}

/** Lets payouts run again: what waited for the pause alone is sent. False: they are not paused. */
export async function resumePayouts(
  { trx, wake }: Pick<UnitOfWork, 'trx' | 'wake'>,
  change: SwitchChange,
): Promise<boolean> {
  wake('payouts')
  return changeSwitch(trx, 'payouts', 'running', change)
}
