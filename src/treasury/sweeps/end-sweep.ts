import { lockCustody, moveCustody } from '../../ledger/custody.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { advanceSweep } from './advance-sweep.js'
import { moveToTreasury, returnToCustody } from './ledger-entries.js'
import type { SweepState } from './lifecycle.js'
import { lockSweep, readParts } from './sweep.js'

export interface SweepEnd {
  readonly from: SweepState
  readonly to: 'final' | 'failed' | 'dead'
  /** Why it did not move anything. */
  readonly failure?: string
}

const longestFailure = 300

/**
 * Ends a sweep with its book and its ledger transfer, in the caller's transaction. Landed USDC is the treasury's, everything else
 * is in custody as before. False when it is in another state: somebody else has ended it.
 */
export async function endSweep(
  { trx }: Pick<UnitOfWork, 'trx'>,
  id: string,
  { from, to, failure }: SweepEnd,
): Promise<boolean> {
  if ((await lockSweep(trx, id)) !== from) return false
  if (from !== 'planned') await settle(trx, id, to === 'final')
  return advanceSweep(trx, {
    name: 'sweeps.end',
    id,
    from,
    to,
    set: 'ended_at = clock_timestamp(), due_at = null, failure = $4',
    values: [failure?.slice(0, longestFailure) ?? null],
  })
}

async function settle(trx: UnitOfWork['trx'], id: string, landed: boolean): Promise<void> {
  const parts = await readParts(trx, id)
  const [first] = parts
  if (first === undefined) throw new Error(`sweep ${id} has no parts`)
  const userIds = parts.map(({ userId }) => userId)
  await lockCustody(trx, userIds, first.mint)
  await moveCustody(trx, landed ? 'sweep' : 'giveBack', parts)
  const total = parts.reduce((sum, { amount }) => sum + amount, 0n)
  await (landed ? moveToTreasury(trx, id, total) : returnToCustody(trx, id))
}
