import type { Knex } from 'knex'
import { checkStep } from '../../kernel/state-machine.js'
import { query } from '../../platform/database/database.js'
import { type SweepState, sweepMachine } from './lifecycle.js'

export interface SweepAdvance {
  /** The name of the prepared statement. */
  readonly name: string
  readonly id: string
  readonly from: SweepState
  readonly to: SweepState
  /** SQL: what else changes. `values` are its parameters from $4 on. */
  readonly set: string
  readonly values?: readonly unknown[]
}

/** Every change of a sweep's state. False when it is in another state. Throws when `lifecycle.ts` does not list the step. */
export async function advanceSweep(
  db: Knex,
  { name, id, from, to, set, values = [] }: SweepAdvance,
): Promise<boolean> {
  checkStep(sweepMachine, from, to)
  const changed = await query(db, {
    name,
    text: `update sweeps set state = $3, last_error = null, ${set} where id = $1 and state = $2 returning id`,
    values: [id, from, to, ...values],
  })
  return changed.length === 1
}
