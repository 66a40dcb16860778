import { noReference } from '../../intents/own-reference.js'
import { DomainError } from '../../kernel/errors.js'
import { providerReferenceOf } from '../../kernel/ids.js'
import { noOrigin } from '../../kernel/trace-context.js'
import { findLastAcceptedRate } from '../../market/accepted-rates.js'
import { readClock } from '../../platform/database/read-clock.js'
import { rateDecimals } from '../../ports/exchange-rates.js'
import type { Services } from '../../services.js'
import { type ChargeBasis, priceFiatTip } from '../fees.js'
import { makeIntentDue } from '../settlement/intent-queue.js'
import { payerFrom } from './payer.js'
import { storeFiatIntent } from './store-intent.js'

/** A charge that the provider has and these rows lost in a restore (docs/decisions/0072). */
export interface LostCharge {
  /** The id of the fiat intent, which its reference at the provider names. */
  readonly intentId: string
  readonly userId: string
  /** What was paid for it. */
  readonly kobo: bigint
}

const expiryMs = 3_600_000
const rateUnit = 10n ** BigInt(rateDecimals)
/** No network of a caller is called so. */
const adoptedNetwork = 'adopted'

/** The amount of a tip whose charge is worth this much, without its fee on the gross basis. At least a cent. */
function amountFor(kobo: bigint, rate: bigint, basis: ChargeBasis): bigint {
  const cents = (kobo * rateUnit) / rate
  const amount = basis === 'net' ? (cents * 100n) / 95n : cents
  return amount > 0n ? amount : 1n
}

/**
 * Writes the lost intent again, for what was paid and at the last accepted rate. The settlement worker asks the provider and credits it
 * as any other. Nothing is known of its payer. Throws `rate_unavailable`.
 */
export async function adoptCharge(
  services: Pick<Services, 'db' | 'transact' | 'config' | 'wake'>,
  { intentId: id, userId, kobo }: LostCharge,
  atEnd: Parameters<typeof storeFiatIntent>[2],
): Promise<void> {
  const { config } = services
  const rate = await findLastAcceptedRate(services.db)
  if (rate === undefined) throw new DomainError('rate_unavailable')
  const basis = config.fiat.chargeBasis
  // Many of one creator may be adopted. Not a copy, which would read secrets that this process does not have.
  const unlimited: typeof config = Object.create(config, {
    limits: { value: { ...config.limits, factor: 0 } },
  })
  await storeFiatIntent(
    { ...services, config: unlimited },
    {
      id,
      owner: { userId, network: adoptedNetwork },
      payer: payerFrom(
        { senderName: undefined, payerEmail: undefined, isAnonymous: true },
        config.http.publicUrl,
      ),
      memo: null,
      price: priceFiatTip(amountFor(kobo, rate.value, basis), rate.value, basis, kobo),
      basis,
      rate,
      collection: { checkoutUrl: config.http.publicUrl },
      expiresAt: new Date((await readClock(services.db)).getTime() + expiryMs),
      lifeMs: expiryMs,
      origin: noOrigin,
      session: undefined,
      own: noReference,
      language: undefined,
    },
    atEnd,
  )
  await makeIntentDue(services, providerReferenceOf(id))
}
