import { DomainError } from '../kernel/errors.js'
import { sqlList } from '../kernel/state-machine.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'
import { databaseIsKnown } from '../platform/database/restore-guard.js'
import { changeSwitch, runsSql, type SwitchChange } from '../platform/database/switches/switches.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { type OutgoingTable, sendableStates } from './lifecycle.js'

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

/**
 * Whether the provider may have what these rows have not sent, as SQL that names the row as `alias`: it is older than an accepted
 * restore, or adopted (docs/decisions/0072).
 */
export function looksUp(alias: string): string {
  return `(${alias}.adopted_at is not null or coalesce(${alias}.created_at < (select restored_at from database_epoch), false))`
}

/** Seconds since the last restore was accepted, as SQL. */
export const sinceRestore =
  '(select extract(epoch from clock_timestamp() - restored_at)::float8 from database_epoch)'

/** By the id of a row: whether the provider has it. No entry: it was not asked, or need not show it yet. */
export type Asked = ReadonlyMap<string, boolean>

/** Whether what the provider does not show is not there. Until the settle time is over it need not show yet what was lost. */
export function provesAbsence(
  { sinceRestore }: { readonly sinceRestore: number | null },
  { settleSeconds }: Pick<Config['payouts'], 'settleSeconds'>,
): boolean {
  return (sinceRestore ?? 0) >= settleSeconds
}

/**
 * Money goes back only when these rows can know that nothing was sent: never while the database waits after a restore, and for
 * what is older than one only if the provider does not have it. Call it under the row's lock. `adopt`: the command for what the
 * provider has. Throws `service_unavailable`.
 */
export async function requireUnsent(
  { trx }: Pick<UnitOfWork, 'trx'>,
  { table, name }: Pick<OutgoingTable, 'table' | 'name'>,
  id: string,
  asked: Asked,
  adopt: string,
): Promise<void> {
  const [row] = await query<{ known: boolean; old: boolean }>(trx, {
    name: `${name}.require-unsent`,
    text: `select ${databaseIsKnown} as known, ${looksUp('t')} as old from ${table} t where t.id = $1`,
    values: [id],
  })
  if (row?.known !== true)
    throw new DomainError(
      'service_unavailable',
      'the database was restored, so what was never sent from here may be paid. Run: npm run ops -- restore-check',
    )
  if (row.old && asked.get(id) !== false)
    throw new DomainError(
      'service_unavailable',
      `it is older than a restore, and the provider has it, or need not show it yet: npm run ops -- ${adopt}`,
    )
}
