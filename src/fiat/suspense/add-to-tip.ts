import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import { addToFiatTip, confirmFiatTip } from '../../tips/fiat-tip.js'
import { amountsShown, type FiatCredit } from '../fees.js'
import { closeIntent, type LockedIntent } from '../settlement/lock-intent.js'

/** What an item is worth to its creator and to the platform. */
export interface Assignment extends FiatCredit {
  readonly intent: LockedIntent
  /** The row of the rate at which it counts. */
  readonly rateId: bigint
}

/**
 * Makes assigned money part of its tip, with the name and the message that were given. A tip that is not confirmed becomes
 * so. A confirmed one shows the sum.
 */
export async function addToTip(
  trx: Knex,
  kobo: bigint,
  { intent, rateId, ...value }: Assignment,
): Promise<void> {
  const { id, price } = intent
  const { creditMicro, revenueMicro } = value
  const creditedMicro = (intent.creditedMicro ?? 0n) + creditMicro
  const countedKobo = (intent.countedKobo ?? 0n) + kobo
  if (intent.status !== 'confirmed')
    await confirmFiatTip({ trx }, { id, ...amountsShown(price, value, kobo), creditedMicro })
  else await addToFiatTip(trx, { id, creditMicro, revenueMicro, countedKobo })
  await query(trx, {
    name: 'fiat.assign',
    text: /* sql */ `
      update fiat_intents set settled_kobo = $2, credited_micro = $3, settle_rate_id = coalesce(settle_rate_id, $4),
        metadata = metadata || '{"assigned": true}'
      where id = $1`,
    values: [id, countedKobo, creditedMicro, rateId],
  })
  await closeIntent(trx, id)
}
