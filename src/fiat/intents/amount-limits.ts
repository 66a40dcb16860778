import type { CreatorSettings } from '../../creators/settings.js'
import { tipLimitsFor } from '../../intents/quote.js'
import { type DomainError, inputError } from '../../kernel/errors.js'
import { baseUnits, displayText, microDecimals, percentBps } from '../../kernel/money.js'
import type { Config } from '../../platform/config/config.js'
import { type ChargeBasis, givenChargeLimits } from '../fees.js'

/** USD in cents, rounded half up. Throws `invalid_amount` unless above zero and at most the largest tip of the service. */
export function parseUsdCents(amount: number, { maxUsd }: Config['tips']): bigint {
  const cents = baseUnits(amount, 2)
  if (cents === undefined || cents > BigInt(Math.round(maxUsd * 100)))
    throw inputError('invalid_amount', 'amount', `must be above 0 and at most ${maxUsd} USD`)
  return cents
}

/** NGN in kobo, rounded half up. Throws `invalid_amount` outside the limits of a charge. Undefined stays undefined. */
export function parseKobo(amountNgn: number | undefined, limits: Config['fiat']): bigint | undefined {
  if (amountNgn === undefined) return undefined
  const kobo = baseUnits(amountNgn, 2)
  if (kobo === undefined) throw outsideCharge(limits, 'amountNgn')
  checkChargeLimits(kobo, limits, 'amountNgn')
  return kobo
}

/** Throws `invalid_amount` for a charge outside the limits. `field`: the one that asked for the charge. */
export function checkChargeLimits(kobo: bigint, limits: Config['fiat'], field: 'amount' | 'amountNgn'): void {
  const { minNgn, maxNgn } = limits
  if (kobo < BigInt(minNgn) * 100n || kobo > BigInt(maxNgn) * 100n) throw outsideCharge(limits, field)
}

function outsideCharge({ minNgn, maxNgn }: Config['fiat'], field: 'amount' | 'amountNgn'): DomainError {
  return inputError('invalid_amount', field, `must charge from ${minNgn} to ${maxNgn} NGN`)
}

/** Throws `invalid_amount` outside the limits of the service and of the creator. */
export function checkFiatUsdLimits(cents: bigint, service: Config['tips'], creator: CreatorSettings): void {
  const { minUsd, maxUsd } = tipLimitsFor(service, creator)
  const usd = Number(displayText(cents, 2))
  if (usd < minUsd || usd > maxUsd)
    throw inputError('invalid_amount', 'amount', `must be from ${minUsd} to ${maxUsd} USD`)
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
  if (kobo < minKobo || kobo > maxKobo)
    throw inputError('invalid_amount', 'amountNgn', `must be worth from ${minUsd} to ${maxUsd} USD now`)
}
