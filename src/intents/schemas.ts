import { z } from 'zod'
import { checkedText, requiredText, truncated } from '../http/input.js'
import { isAddress } from '../kernel/base58.js'
import { tokenByMint } from '../kernel/tokens.js'
import { swapEngines } from '../ports/swaps.js'
import { ownReferenceFields } from './own-reference.js'
import { statusUrlOutput } from './status-url.js'

const missing = 'intent_fields_required'

/** The supporter's message, as it may come with an intent. */
export const intentMessage = z.string().optional().meta({
  description: "Supporter message, kept to 500 characters. It is the tip's: no later report changes it",
})

/** The supporter's display name, as it may come with an intent. As for naira, another type counts as absent. */
export const senderName = z.string().optional().catch(undefined).meta({
  type: 'string',
  description: "The supporter's name for the creator, kept to 100 characters. The sender stays the wallet",
})

export const tokenOutput = z.object({ symbol: z.string(), mint: z.string(), decimals: z.number().int() })
const tokenAmount = tokenOutput.extend({
  amount: z.string().regex(/^\d+$/).meta({ description: 'Raw units' }),
})

/** API: POST /payments/intent. The first wrong field in this order decides the error. */
export const intentInput = z
  .object({
    creatorId: requiredText(missing).meta({
      description:
        'User id (UUID, also with prefix auth_), wallet address, Twitter handle (with or without @), Discord handle or .sol domain',
    }),
    inputTokenMint: checkedText(
      missing,
      'invalid_input_token_mint',
      (mint) => tokenByMint(mint) !== undefined,
    ),
    sourceWalletAddress: checkedText(missing, 'invalid_source_wallet', isAddress),
    // Ignored when amountUsd is given, so the operation checks its type.
    amount: z
      .unknown()
      .optional()
      .meta({ type: 'number', description: 'Token amount in human-readable units; ignored with amountUsd' }),
    amountUsd: z
      .unknown()
      .optional()
      .meta({ type: 'number', description: 'USD amount; converted at the live price' }),
    tokenSymbol: z
      .string()
      .optional()
      .catch(undefined)
      .meta({ type: 'string', description: 'Display symbol; does not affect routing' }),
    message: intentMessage,
    senderName,
    ...ownReferenceFields,
  })
  .refine(({ amount, amountUsd }) => amount !== undefined || amountUsd !== undefined, {
    error: missing,
    when: ({ value }) => typeof value === 'object' && value !== null,
    path: ['amount'],
    params: { problem: 'is missing' },
  })

export const intentOutput = z.object({
  success: z.literal(true),
  intentId: z.string().startsWith('pi_'),
  status: z.literal('requires_action'),
  transaction: z.base64().meta({ description: 'Serialized, unsigned versioned transaction' }),
  quote: z.object({
    outAmount: z
      .string()
      .regex(/^\d+$/)
      .meta({ description: 'What the creator receives, raw units of the output token' }),
    priceImpactPct: z.number(),
    amountUsd: z.number(),
    tokenSymbol: z.string(),
  }),
  executionMode: z.enum(['sync', 'async']),
  provider: z.enum(['direct-transfer', ...swapEngines]),
  lastValidBlockHeight: z.number().int(),
  settings: z.object({
    yieldEnabled: z.boolean(),
    gaslessEnabled: z.boolean(),
    autoConvertUsdc: z.boolean(),
  }),
  expiresAt: z.iso.datetime().meta({ description: 'When lastValidBlockHeight is likely to pass' }),
  recipient: z
    .string()
    .meta({ description: "The creator's wallet: `creatorWallet` when the tip is recorded" }),
  truncated,
  input: tokenAmount.meta({ description: 'What the supporter pays' }),
  output: tokenAmount.meta({ description: 'What the creator receives' }),
  statusUrl: statusUrlOutput,
})

export type IntentInput = z.output<typeof intentInput>
export type IntentAnswer = Omit<z.output<typeof intentOutput>, 'success'>
