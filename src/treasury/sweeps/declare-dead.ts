import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { endSweep } from './end-sweep.js'
import type { SweepRow } from './sweep.js'

/**
 * Ends a sweep that waits for a person, with everything back in custody. Asks the chain once more. Returns why it may not; `also`
 * is written in the same transaction.
 */
export async function declareDead(
  { transact, custodyChain }: Pick<Services, 'transact' | 'custodyChain'>,
  { id, undecided, signature, lastValidHeight }: SweepRow,
  failure: string,
  also: (trx: UnitOfWork['trx']) => Promise<void>,
): Promise<string | undefined> {
  if (!undecided || signature === null) return `sweep ${id} does not wait for a person`
  const [fate] = await custodyChain.fates([{ signature, lastValidHeight: Number(lastValidHeight) }])
  if (fate?.kind !== 'gone')
    return `the chain knows sweep ${id}, or does not answer: it is ${fate?.kind ?? 'open'}`
  const ended = await transact(async (uow) => {
    const done = await endSweep(uow, id, { from: 'sent', to: 'dead', failure })
    if (done) await also(uow.trx)
    return done
  })
  return ended ? undefined : `sweep ${id} has ended meanwhile`
}
