import { lockCustody, moveCustody } from '../../ledger/custody.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { postTakeOut, returnTakeOut } from './ledger-entries.js'
import { advanceTakeOut, lockTakeOut, takeOutChannel } from './take-out.js'

/**
 * Ends a signed take-out with its book and its ledger transfer, in the caller's transaction. What landed is the creator's own,
 * everything else is in custody as before. False when it is in another state: somebody else has ended it.
 */
export async function endTakeOut(
  { trx, publish }: Pick<UnitOfWork, 'trx' | 'publish'>,
  id: string,
  to: 'final' | 'failed' | 'expired',
  failure: string | null = null,
): Promise<boolean> {
  const takeOut = await lockTakeOut(trx, id)
  if (takeOut?.state !== 'signed') return false
  const { userId, mint, amount } = takeOut
  await lockCustody(trx, [userId], mint)
  await moveCustody(trx, to === 'final' ? 'takeOut' : 'giveBack', [{ userId, mint, amount }])
  await (to === 'final' ? postTakeOut(trx, takeOut) : returnTakeOut(trx, takeOut))
  publish(takeOutChannel(id))
  return advanceTakeOut(trx, {
    name: 'take-outs.end',
    id,
    from: 'signed',
    to,
    set: 'ended_at = clock_timestamp(), due_at = null, failure = $4',
    values: [failure],
  })
}
