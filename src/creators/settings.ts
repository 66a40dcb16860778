import { z } from 'zod'
import { DomainError, type ErrorCode } from '../kernel/errors.js'
import { tokens } from '../kernel/tokens.js'

const wrong: ErrorCode = 'invalid_settings'
/** No tip is larger, whatever the service's own limit. */
const mostUsd = 1_000_000
const symbols = tokens.map(({ symbol }) => symbol)
const collections = ['checkout', 'bank_transfer'] as const

/** What a creator may choose (decisions of the product; stored as the difference to the defaults). */
export const creatorSettings = z.object({
  acceptedTokens: z.array(z.string()).default(['SOL', 'USDC', 'USDT', 'BONK']),
  yieldEnabled: z.boolean().default(false),
  gaslessEnabled: z.boolean().default(false),
  autoConvertUsdc: z.boolean().default(false),
  fiatCollection: z.enum(collections).default('checkout'),
  minTipUsd: z.number().nullable().default(null),
  maxTipUsd: z.number().nullable().default(null),
})

export type CreatorSettings = z.output<typeof creatorSettings>

/** What holds for a wallet that belongs to nobody we know. */
export const defaultSettings: CreatorSettings = creatorSettings.parse({})

/** Null changes nothing, as everywhere; only a limit can be lifted with it. */
function change<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}
const usd = z.number(wrong).max(mostUsd, wrong)

/** The settings a creator wants changed: any of them, checked; others are not looked at. */
export const settingsChange = z.object(
  {
    acceptedTokens: change(
      z
        .array(z.enum(symbols, wrong), wrong)
        .min(1, wrong)
        .max(symbols.length, wrong)
        .transform((accepted) => [...new Set(accepted)]),
    ),
    yieldEnabled: change(z.boolean(wrong)),
    gaslessEnabled: change(z.boolean(wrong)),
    autoConvertUsdc: change(z.boolean(wrong)),
    fiatCollection: change(z.enum(collections, wrong)),
    minTipUsd: usd.nonnegative(wrong).nullish(),
    maxTipUsd: usd.positive(wrong).nullish(),
  },
  wrong,
)

export type SettingsChange = z.output<typeof settingsChange>

/**
 * What is stored after a change, key by key. Throws `invalid_settings` when the smallest tip would then be above
 * the largest.
 */
export function changedSettings(stored: object, wanted: SettingsChange): Record<string, unknown> {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined)
  const changed = { ...stored, ...Object.fromEntries(given) }
  const { minTipUsd, maxTipUsd } = creatorSettings.parse(changed)
  if (minTipUsd !== null && maxTipUsd !== null && minTipUsd > maxTipUsd) throw new DomainError(wrong)
  return changed
}
