import type { Knex } from 'knex'
import { changesOne, query } from '../database.js'
import { databaseIsKnown } from '../restore-guard.js'

/** What can be stopped, each a row of `switches` (docs/decisions/0057, 0071). */
export const switchNames = [
  'payouts',
  'intents',
  'naira-intents',
  'registrations',
  'swaps',
  'maintenance',
] as const
export type SwitchName = (typeof switchNames)[number]

/** A switch as operators say it: payments that are off are stopped, and maintenance that is on stops them. */
export function switchWord(name: SwitchName, stopped: boolean): 'on' | 'off' {
  return stopped === (name === 'maintenance') ? 'on' : 'off'
}

export interface Switch {
  readonly name: SwitchName
  /** Null: it runs. */
  readonly stoppedAt: Date | null
  readonly changedBy: string | null
  readonly reason: string | null
}

/** Who changes a switch, an operator or an alarm, and why. */
export interface SwitchChange {
  readonly by: string
  readonly reason: string
}

/** After a restore nothing is sent until the providers' lists were compared (docs/decisions/0072). As SQL. */
function mayRun(name: SwitchName): string {
  return name === 'payouts' ? ` and ${databaseIsKnown}` : ''
}

/** Whether it runs, as SQL that reads and does not wait. A scalar subquery: read once for all rows of a statement. */
export function runsSql(name: SwitchName): string {
  return `(select stopped_at from switches where name = '${name}') is null${mayRun(name)}`
}

/**
 * Whether it runs, as SQL for the statement that does what the switch stops. Locks the switch until the transaction ends, so
 * that who stops it waits for what has begun, and nothing begins afterwards.
 */
export function runsLockedSql(name: SwitchName): string {
  return `exists (select from switches where name = '${name}' and stopped_at is null for share)${mayRun(name)}`
}

/** Locks the switch alone, so that those who ask follow each other. False: it is stopped, or waits after a restore. */
export function lockSwitch(trx: Knex.Transaction, name: SwitchName): Promise<boolean> {
  return changesOne(trx, {
    name: `switches.lock-${name}`,
    text: `select name from switches where name = $1 and stopped_at is null${mayRun(name)} for no key update`,
    values: [name],
  })
}

/** Stops it, or lets it run. False: it is so already, and stays as it is with its reason. */
export function changeSwitch(
  trx: Knex.Transaction,
  name: SwitchName,
  to: 'stopped' | 'running',
  { by, reason }: SwitchChange,
): Promise<boolean> {
  return changesOne(trx, {
    name: 'switches.change',
    text: /* sql */ `
      update switches set stopped_at = case when $2 then clock_timestamp() end, changed_by = $3, reason = $4
      where name = $1 and (stopped_at is null) = $2 returning name`,
    values: [name, to === 'stopped', by, reason],
  })
}

/** `known`: the rows are where they were (restore-guard.ts). */
export async function readSwitches(db: Knex): Promise<(Switch & { readonly known: boolean })[]> {
  return query(db, {
    name: 'switches.read',
    text: /* sql */ `
      select name, stopped_at as "stoppedAt", changed_by as "changedBy", reason, ${databaseIsKnown} as known from switches
      where name = any($1::text[]) order by name`,
    values: [switchNames],
  })
}
