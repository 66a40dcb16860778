import type { Knex } from 'knex'
import { type AcceptedRate, lastAccepted } from '../../market/accepted-rates.js'
import type { LockedIntent } from './lock-intent.js'

/**
 * What money is valued at that came too late, or was credited late (decisions of the product): the locked rate or the
 * last accepted one, whichever gives less. So nobody waits for a better rate at the platform's expense.
 */
export async function lateRate(
  trx: Knex,
  { rateId, rate }: Pick<LockedIntent, 'rateId' | 'rate'>,
): Promise<Pick<AcceptedRate, 'id' | 'value'>> {
  const current = await lastAccepted(trx)
  return current !== undefined && current.value > rate ? current : { id: rateId, value: rate }
}
