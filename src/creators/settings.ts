import { z } from 'zod'

/** What a creator may choose (decisions of the product; stored as the difference to the defaults). */
export const creatorSettings = z.object({
  acceptedTokens: z.array(z.string()).default(['SOL', 'USDC', 'USDT', 'BONK']),
  yieldEnabled: z.boolean().default(false),
  gaslessEnabled: z.boolean().default(false),
  autoConvertUsdc: z.boolean().default(false),
  fiatCollection: z.enum(['checkout', 'bank_transfer']).default('checkout'),
  minTipUsd: z.number().nullable().default(null),
  maxTipUsd: z.number().nullable().default(null),
})

export type CreatorSettings = z.output<typeof creatorSettings>

/** What holds for a wallet that belongs to nobody we know. */
export const defaultSettings: CreatorSettings = creatorSettings.parse({})
