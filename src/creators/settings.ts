import { z } from 'zod'
import { DomainError, type ErrorCode } from '../kernel/errors.js'
import { tokens } from '../kernel/tokens.js'

const wrong: ErrorCode = 'invalid_settings'
/** The largest value of a creator's own limits. The service's limits may be lower. */
const mostUsd = 1_000_000
const symbols = tokens.map(({ symbol }) => symbol)
const collections = ['checkout', 'bank_transfer'] as const
/** Where new crypto tips go. Stored with the payout wallet (accounts/payout-wallets). */
const destinations = ['custody', 'payout_wallet'] as const

/** A creator's settings. Only values that the creator has set are stored; the others are the defaults here. */
export const creatorSettings = z.object({
  acceptedTokens: z.array(z.string()).default(['SOL', 'USDC', 'USDT', 'BONK']),
  yieldEnabled: z.boolean().default(false),
  gaslessEnabled: z.boolean().default(false),
  autoConvertUsdc: z.boolean().default(false),
  fiatCollection: z.enum(collections).default('checkout'),
  minTipUsd: z.number().nullable().default(null),
  maxTipUsd: z.number().nullable().default(null),
  hideUnpaidWords: z.boolean().default(false),
  tipsTo: z.enum(destinations).default('custody'),
})

export type CreatorSettings = z.output<typeof creatorSettings>

/** The settings for a wallet that belongs to no account. */
export const defaultSettings: CreatorSettings = creatorSettings.parse({})

/** `null` counts as absent, as in all inputs. Only `minTipUsd` and `maxTipUsd` give it a meaning: no limit. */
function change<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}
const usd = z.number(wrong).max(mostUsd, wrong)

/** A change of settings. Every field is optional; unknown fields are ignored. */
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
    hideUnpaidWords: change(z.boolean(wrong)),
    tipsTo: change(z.enum(destinations, wrong)),
  },
  wrong,
)

export type SettingsChange = z.output<typeof settingsChange>

/** The settings as stored, and where new tips go, which is stored with the payout wallet. */
export function parseSettings(stored: object, tipsToPayoutWallet: boolean): CreatorSettings {
  return creatorSettings.parse({ ...stored, tipsTo: tipsToPayoutWallet ? 'payout_wallet' : 'custody' })
}

/**
 * Merges a change into the stored settings by key, all but `tipsTo`. Throws `invalid_settings` if the minimum exceeds the maximum.
 */
export function mergeSettings(
  stored: object,
  { tipsTo: _, ...wanted }: SettingsChange,
): Record<string, unknown> {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined)
  const changed = { ...stored, ...Object.fromEntries(given) }
  const { minTipUsd, maxTipUsd } = creatorSettings.parse(changed)
  if (minTipUsd !== null && maxTipUsd !== null && minTipUsd > maxTipUsd) throw new DomainError(wrong)
  return changed
}
