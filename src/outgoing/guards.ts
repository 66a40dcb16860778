import { sqlList } from '../kernel/state-machine.js'
import { changeSwitch, runsSql, type SwitchChange } from '../platform/database/switches/switches.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { sendableStates } from './lifecycle.js'

/** Whether payouts run, as SQL: neither paused nor waiting after a restore. While they do not, nothing is taken to be sent. */
const payoutsRun = runsSql('payouts')

/**
 * The account of a row is not frozen, as SQL. Nothing of a frozen one is sent. A scalar subquery, so that it filters the rows of
 * an index and is not joined.
 */
export const notFrozen = '(select f.frozen_at from users f where f.id = user_id) is null'

/** Rows that a worker may send now, as SQL. `mayLeave`: what their kind asks for besides. */
export function isSendable(mayLeave: string): string {
  return `status = 'pending' and send_state in (${sqlList(sendableStates)}) and ${mayLeave} and ${payoutsRun}`
}

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
