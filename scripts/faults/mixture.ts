import type { z } from 'zod'
import type { faultSchema } from '../sandbox/fiatpay/behaviour.js'
import { roll } from '../sandbox/fiatpay/dice.js'

export type Fault = z.output<typeof faultSchema>

/** How the provider misbehaves in one chapter. */
export interface Mixture {
  /** Whether it refuses a used reference, and we are told so; otherwise it pays again, and we are told that. */
  readonly deduplicates: boolean
  readonly fault: Fault
}

const lagMsMost = 1500
const webhookMsMost = 400

/**
 * What a payout may meet: weights drawn anew for each chapter, so that every mixture comes up; the same for the same seed.
 * Each fourth chapter is one of a provider that pays a reference again when it is sent again.
 */
export function mixtureOf(seed: number, chapter: number): Mixture {
  const weight = (name: string, least = 0) =>
    Math.max(least, Math.round(100 * roll(seed, name, chapter) ** 2))
  const deduplicates = chapter % 4 !== 3
  return {
    deduplicates,
    fault: {
      seed: seed + chapter,
      transfers: weights({
        auto: weight('auto', 30),
        'accept-then-timeout': weight('accept-then-timeout'),
        'accept-then-500': weight('accept-then-500'),
        'accept-then-garbage': weight('accept-then-garbage'),
        'accept-then-reset': weight('accept-then-reset'),
        '500': weight('500'),
        timeout: weight('timeout'),
        'refuse-connection': weight('refuse-connection'),
        reject: weight('reject'),
        'no-float': weight('no-float'),
      }),
      lookups: weights({
        ok: 100,
        timeout: weight('look-timeout'),
        '500': weight('look-500'),
        garbage: weight('look-garbage'),
        reset: weight('look-reset'),
        'not-found': weight('look-not-found'),
      }),
      accounts: weights({ ok: 200, timeout: weight('account-timeout'), '500': weight('account-500') }),
      outcomes: weights({ success: 100, failed: weight('failed'), reversed: weight('reversed') }),
      settleMs: Math.floor(800 * roll(seed, 'settle', chapter)),
      lookupLagMs: Math.floor(lagMsMost * roll(seed, 'lag', chapter)),
      duplicates: deduplicates ? 'refuse' : 'execute',
      webhooks: {
        copies: Math.floor(4 * roll(seed, 'copies', chapter)),
        delayMs: Math.floor(webhookMsMost * roll(seed, 'webhook', chapter)),
        badSignature: roll(seed, 'signature', chapter) < 0.2,
      },
    },
  }
}

/** What weighs nothing is left out. */
function weights<Kind extends string>(given: Record<Kind, number>): Partial<Record<Kind, number>> {
  const entries = Object.entries<number>(given).filter(([, value]) => value > 0)
  return Object.fromEntries(entries) as Partial<Record<Kind, number>>
}

/** A provider that behaves again, so that everything comes to its end. */
export const calm: Fault = { settleMs: 50, outcomes: 'success' }
