import type { Knex } from 'knex'
import { checkStep } from '../kernel/state-machine.js'
import { query } from '../platform/database/database.js'
import {
  type SendState,
  sendMachine,
  sendStatesOf,
  statusMachine,
  type WithdrawalStatus,
} from './lifecycle.js'

/** A step of a withdrawal: of its send state, and of its status when that changes with it. */
export interface WithdrawalAdvance {
  /** The name of the prepared statement. */
  readonly name: string
  readonly id: string
  /** Changes nothing in any other send state. Usually the one that was read. */
  readonly from: readonly SendState[]
  readonly to: SendState
  /** From one status to another, which also gets its time. Absent: it is and stays `pending`. */
  readonly status?: readonly [from: WithdrawalStatus, to: WithdrawalStatus]
  /** SQL: what else changes, and what else must be so. `values` are its parameters from $6 on. */
  readonly set?: string
  readonly where?: string
  readonly values?: readonly unknown[]
  readonly returning?: string
}

/**
 * Every change of `status` and `send_state`. One statement: it returns no row when the withdrawal is in another state, or
 * `where` does not hold. Throws when the tables of `lifecycle.ts` do not list the step.
 */
export function advance<Row>(
  db: Knex,
  {
    name,
    id,
    from,
    to,
    status: [before, after] = ['pending', 'pending'],
    set,
    where,
    values = [],
    returning = 'id',
  }: WithdrawalAdvance,
): Promise<Row[]> {
  checkStep(statusMachine, before, after)
  for (const state of from) checkStep(sendMachine, state, to)
  if (!sendStatesOf[after].includes(to)) throw new Error(`a withdrawal is not ${after} and ${to} at once`)
  const sets = [before === after ? undefined : `${after}_at = clock_timestamp()`, set].filter(Boolean)
  return query<Row>(db, {
    name,
    text: /* sql */ `
      update withdrawals set ${['status = $2', 'send_state = $3', ...sets].join(', ')}
      where id = $1 and status = $4 and send_state = any($5::text[]) ${where === undefined ? '' : `and ${where}`}
      returning ${returning}`,
    values: [id, after, to, before, from, ...values],
  })
}
