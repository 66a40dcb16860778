import { sqlList } from '../kernel/state-machine.js'
import { runsSql } from '../platform/database/switches/switches.js'
import { sendableStates } from './lifecycle.js'

/** Whether payouts run, as SQL: neither paused nor waiting after a restore. While they do not, nothing is taken to be sent. */
export const payoutsRun = runsSql('payouts')

/**
 * The account of a row is not frozen, as SQL. Nothing of a frozen one is sent. A scalar subquery, so that it filters the rows of
 * an index and is not joined.
 */
export const notFrozen = '(select f.frozen_at from users f where f.id = user_id) is null'

/** Rows that a worker may send now, as SQL. `mayLeave`: what their kind asks for besides. */
export function isSendable(mayLeave: string): string {
  return `status = 'pending' and send_state in (${sqlList(sendableStates)}) and ${mayLeave} and ${payoutsRun}`
}
