import type { Knex } from 'knex'
import { checkStep } from '../kernel/state-machine.js'
import { query } from '../platform/database/database.js'
import type { LogLine } from '../platform/database/transact.js'
import {
  type SendState,
  sendMachine,
  sendStatesOf,
  statusMachine,
  type WithdrawalStatus,
} from './lifecycle.js'

/** Where a step is taken: a unit of work, or a pool for a step that is a statement of its own. */
export interface StepPlace {
  readonly trx: Knex
  readonly log: LogLine
}

/** What the log says of a step, by the status or send state that it leads to. */
const stepTexts: Readonly<Record<SendState | WithdrawalStatus, string>> = {
  identity_hold: 'a withdrawal waits for the identity of its creator',
  confirmation_hold: 'a withdrawal waits for the confirmation of its creator',
  not_sent: 'a withdrawal is due to be sent',
  sending: 'a withdrawal is being sent',
  unknown: 'nobody knows whether a withdrawal was sent: the provider is asked',
  resend: 'a withdrawal is due to be sent again',
  sent: 'the provider has a withdrawal',
  manual_review: 'a withdrawal waits for an operator',
  refused: 'a withdrawal failed unpaid, and its money is back',
  pending: 'a withdrawal is pending',
  submitted: 'the provider accepted a withdrawal',
  processing: 'the provider has started a withdrawal',
  completed: 'a withdrawal was paid',
  failed: 'a withdrawal failed, and its money is back',
}

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
 * Every change of `status` and `send_state`, with its line in the log. One statement: it returns no row when the withdrawal is in
 * another state, or `where` does not hold. Throws when the tables of `lifecycle.ts` do not list the step.
 */
export async function advanceWithdrawal<Row>(
  { trx, log }: StepPlace,
  {
    name,
    id,
    from,
    to,
    status: [before, after] = ['pending', 'pending'],
    set,
    where,
    values = [],
    returning,
  }: WithdrawalAdvance,
): Promise<Row[]> {
  checkStep(statusMachine, before, after)
  for (const state of from) checkStep(sendMachine, state, to)
  if (!sendStatesOf[after].includes(to)) throw new Error(`a withdrawal is not ${after} and ${to} at once`)
  const sets = [before === after ? undefined : `${after}_at = clock_timestamp()`, set].filter(Boolean)
  const rows = await query<Row & Logged>(trx, {
    name,
    text: /* sql */ `
      update withdrawals set ${['status = $2', 'send_state = $3', ...sets].join(', ')}
      where id = $1 and status = $4 and send_state = any($5::text[]) ${where === undefined ? '' : `and ${where}`}
      returning reference as "loggedReference", request_id as "loggedRequestId"${returning === undefined ? '' : `, ${returning}`}`,
    values: [id, after, to, before, from, ...values],
  })
  // A row that is only due again has taken no step.
  if (before === after && from.every((state) => state === to)) return rows
  for (const { loggedReference: reference, loggedRequestId: requestId } of rows)
    log(
      { reference, requestId, status: after, sendState: to },
      stepTexts[before === after || to === 'refused' ? to : after],
    )
  return rows
}

interface Logged {
  readonly loggedReference: string
  readonly loggedRequestId: string | null
}
