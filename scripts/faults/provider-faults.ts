import type { Fault } from '../sandbox/fiatpay/faults.js'
import { seededNumber } from '../sandbox/fiatpay/seeded-choice.js'

/** How the provider misbehaves in one round. */
export interface ProviderFaults {
  /** Whether it refuses a used reference. If not, it pays again. The service's settings say which of the two it does. */
  readonly deduplicates: boolean
  readonly fault: Fault
}

const transferFaults = [
  ...(['accept-then-timeout', 'accept-then-500', 'accept-then-garbage', 'accept-then-reset', '500'] as const),
  ...(['timeout', 'refuse-connection', 'reject', 'no-float'] as const),
]
const lagMsMax = 1500
const webhookMsMax = 400

/**
 * Draws the weights of the provider's faults for one round. They depend only on the seed and the round. In each fourth round
 * the provider pays a repeated reference again. The names given to `weight` and `seededNumber` are part of the seed: with
 * other names the same seed gives other faults.
 */
export function drawProviderFaults(seed: number, round: number): ProviderFaults {
  const weight = (name: string, least = 0) =>
    Math.max(least, Math.round(100 * seededNumber(seed, name, round) ** 2))
  const deduplicates = round % 4 !== 3
  return {
    deduplicates,
    fault: {
      seed: seed + round,
      transfers: {
        auto: weight('auto', 30),
        ...Object.fromEntries(transferFaults.map((name) => [name, weight(name)])),
      },
      lookups: {
        ok: 100,
        timeout: weight('look-timeout'),
        '500': weight('look-500'),
        garbage: weight('look-garbage'),
        reset: weight('look-reset'),
        'not-found': weight('look-not-found'),
      },
      accounts: { ok: 200, timeout: weight('account-timeout'), '500': weight('account-500') },
      outcomes: { success: 100, failed: weight('failed'), reversed: weight('reversed') },
      settleMs: Math.floor(800 * seededNumber(seed, 'settle', round)),
      lookupLagMs: Math.floor(lagMsMax * seededNumber(seed, 'lag', round)),
      duplicates: deduplicates ? 'refuse' : 'execute',
      webhooks: {
        copies: Math.floor(4 * seededNumber(seed, 'copies', round)),
        delayMs: Math.floor(webhookMsMax * seededNumber(seed, 'webhook', round)),
        badSignature: seededNumber(seed, 'signature', round) < 0.2,
      },
    },
  }
}

/** The provider works normally, so that every withdrawal ends. */
export const noFaults: Fault = { settleMs: 50, outcomes: 'success' }
