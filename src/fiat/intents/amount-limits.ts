import type { CreatorSettings } from '../../creators/settings.js'
import { tipLimitsFor } from '../../intents/quote.js'
import { DomainError } from '../../kernel/errors.js'
import { baseUnits, displayText, microDecimals, percentBps } from '../../kernel/money.js'
import type { Config } from '../../platform/config/config.js'
import { type ChargeBasis, givenChargeLimits } from '../fees.js'

/** USD in cents, rounded half up. Throws `invalid_amount` unless above zero and at most the largest tip of the service. */
export function parseUsdCents(amount: number, { maxUsd }: Config['tips']): bigint {
  const cents = baseUnits(amount, 2)
  if (cents === undefined || cents > BigInt(Math.round(maxUsd * 100))) throw new DomainError('invalid_amount')
  return cents
}

/** NGN in kobo, rounded half up. Throws `invalid_amount` outside the limits of a charge. Undefined stays undefined. */
export function parseKobo(amountNgn: number | undefined, limits: Config['fiat']): bigint | undefined {
  if (amountNgn === undefined) return undefined
  const kobo = baseUnits(amountNgn, 2)
  if (kobo === undefined) throw new DomainError('invalid_amount')
  checkChargeLimits(kobo, limits)
  return kobo
}

/** Throws `invalid_amount` for a charge outside the limits. */
export function checkChargeLimits(kobo: bigint, { minNgn, maxNgn }: Config['fiat']): void {
  if (kobo < BigInt(minNgn) * 100n || kobo > BigInt(maxNgn) * 100n) throw new DomainError('invalid_amount')
}

/** Throws `invalid_amount` outside the limits of the service and of the creator. */
export function checkFiatUsdLimits(cents: bigint, service: Config['tips'], creator: CreatorSettings): void {
  const { minUsd, maxUsd } = tipLimitsFor(service, creator)
  const usd = Number(displayText(cents, 2))
  if (usd < minUsd || usd > maxUsd) throw new DomainError('invalid_amount')
}

/** Throws `invalid_amount` when what a given charge is worth is outside the limits of the service and of the creator. */
export function checkGivenCharge(
  kobo: bigint,
  rate: bigint,
  basis: ChargeBasis,
  { minUsd, maxUsd }: ReturnType<typeof tipLimitsFor>,
  slackPercent: number,
): void {
  const limits = {
    minMicro: baseUnits(minUsd, microDecimals) ?? 0n,
    maxMicro: baseUnits(maxUsd, microDecimals) ?? 0n,
  }
  const { minKobo, maxKobo } = givenChargeLimits(limits, rate, basis, percentBps(slackPercent))
  if (kobo < minKobo || kobo > maxKobo) throw new DomainError('invalid_amount')
}
