import { z } from 'zod'
import { checkedText, requiredText } from '../http/input.js'
import { ownReferenceFields, ownReferenceOutput } from '../intents/own-reference.js'
import { intentMessage, intentOutput, senderName, tokenOutput } from '../intents/schemas.js'
import { isAddress } from '../kernel/base58.js'
import type { ErrorCode } from '../kernel/errors.js'
import { parseTimestamp } from '../kernel/timestamp.js'
import { tokenByMint } from '../kernel/tokens.js'
import { senderNameOutput } from '../tips/schemas.js'
import { sdkIntentStatuses } from './lifecycle.js'

const isKnownMint = (mint: string): boolean => tokenByMint(mint) !== undefined
const success = z.literal(true)
const theme = z.enum(['dark', 'light'])

export const nothing = z.object({})

/** POST /sdk/init. An unknown theme counts as the default. */
export const initInput = z.object({
  creatorId: requiredText('sdk_init_fields_required').meta({
    description: 'User id (UUID, also with prefix auth_), wallet address or .sol domain',
  }),
  originUrl: requiredText('sdk_init_fields_required').meta({
    description:
      'URL of the embedding page; `localhost` and `127.0.0.1`, with or without a port, need no scheme',
  }),
  theme: theme
    .catch('dark')
    .meta({ default: 'dark' })
    .optional()
    .transform((chosen) => chosen ?? 'dark'),
  ...ownReferenceFields,
})
export type InitInput = z.output<typeof initInput>

export const initOutput = z.object({
  success,
  sessionToken: z.string().regex(/^sdk_sess_/),
  config: z.object({
    creatorId: z.uuid(),
    creatorAddress: z.string(),
    acceptedTokens: z.array(z.string()),
    embedUrl: z.string(),
  }),
})
export type InitAnswer = Omit<z.output<typeof initOutput>, 'success'>

const fieldsMissing: ErrorCode = 'intent_fields_required'

/** POST /sdk/tip. The order of the fields is the order in which wrong fields are refused. */
export const tipInput = z.object({
  creatorId: requiredText(fieldsMissing),
  inputTokenMint: checkedText(fieldsMissing, 'invalid_input_token_mint', isKnownMint),
  sourceWalletAddress: checkedText(fieldsMissing, 'invalid_source_wallet', isAddress),
  amount: z
    .number({ error: ({ input }) => (input === undefined ? fieldsMissing : 'invalid_amount') })
    .positive('invalid_amount')
    .meta({ description: 'USD' }),
  message: intentMessage,
  senderName,
  ...ownReferenceFields,
})
export type TipInput = z.output<typeof tipInput>

const eventId = z.string().nullable().meta({ description: 'Of the tip’s event; null until it is confirmed' })

const statusUrl = z.string().meta({
  description: 'The page that tells the payer how the payment stands. Whoever has the address sees it',
})

/** GET /sdk/intents/:intentId. */
export const intentStatusInput = z.object({ intentId: z.string() })
export const intentStatusOutput = intentOutput.extend({
  status: z.enum(sdkIntentStatuses),
  signature: z.string().nullable().meta({ description: 'Of the payment, when one was seen' }),
  outcome: z.enum(['tx_failed', 'not_found', 'mismatch', 'underpaid']).nullable().meta({
    description:
      'Why a payment does not count. `underpaid`: less arrived than the intent asked for; the creator has it as a tip of its own',
  }),
  receivedAmount: z.number().nullable().meta({
    description: 'What the creator received, display units of `output`; null until it is confirmed',
  }),
  eventId: eventId,
  statusUrl,
})
export type IntentStatusAnswer = Omit<z.output<typeof intentStatusOutput>, 'success'>
/** GET /sdk/intents. A naira intent is listed when it was made with the session's token. */
const nairaIntent = z.object({
  intentId: z.string().regex(/^fiatpay_/),
  status: z.enum(sdkIntentStatuses).exclude(['submitted']),
  amountUsd: z.number(),
  amountNgn: z.number(),
  expiresAt: z.iso.datetime(),
  eventId,
  statusUrl,
})
export type NairaIntentAnswer = z.output<typeof nairaIntent>
export const intentListOutput = z.object({
  success,
  intents: z.array(z.union([intentStatusOutput.omit({ success: true }), nairaIntent])),
})

/** GET /sdk/session. */
export const sessionOutput = z.object({
  success,
  creator: z.object({ id: z.uuid(), name: z.string(), address: z.string().meta({ description: 'Masked' }) }),
  thanks: z
    .string()
    .optional()
    .meta({ description: 'To show who has paid; only there if the creator wrote some' }),
  tokens: z.array(tokenOutput).meta({
    description: 'What the creator takes; preselect the first one, which is USDC if it is among them',
  }),
  presetsUsd: z.array(z.number()),
  limits: z.object({ minTipUsd: z.number(), maxTipUsd: z.number() }),
  chain: z.literal('solana:mainnet'),
  rpcUrl: z.string().nullable(),
  bundleRpcUrl: z.string().nullable().meta({ description: 'For intents of executionMode async' }),
  fiat: z.object({
    enabled: z.boolean(),
    collection: z.enum(['checkout', 'bank_transfer']),
    minNgn: z.number(),
    maxNgn: z.number(),
  }),
  theme,
  parentOrigin: z.string(),
  expiresAt: z.iso.datetime(),
  now: z.iso.datetime().meta({ description: "The service's clock, since a device's may be wrong" }),
})
export type SessionAnswer = Omit<z.output<typeof sessionOutput>, 'success'>

/** POST /sdk/session/renew. */
export const renewOutput = initOutput
  .pick({ success: true, sessionToken: true })
  .extend({ embedUrl: z.string() })

/** POST /sdk/handoff. With amount and token the code is for a Solana Pay transaction request, not for the session. */
export const handoffInput = z
  .object({
    amount: z
      .number('invalid_amount')
      .positive('invalid_amount')
      .optional()
      .meta({ description: 'USD; with inputTokenMint' }),
    inputTokenMint: z
      .string('invalid_input_token_mint')
      .refine(isKnownMint, 'invalid_input_token_mint')
      .optional(),
  })
  .refine(({ amount, inputTokenMint }) => amount !== undefined || inputTokenMint === undefined, {
    error: 'invalid_amount',
    path: ['amount'],
    params: { problem: 'is missing' },
  })
  .refine(({ amount, inputTokenMint }) => amount === undefined || inputTokenMint !== undefined, {
    error: 'invalid_input_token_mint',
    path: ['inputTokenMint'],
    params: { problem: 'is missing' },
  })
export type HandoffInput = z.output<typeof handoffInput>

export const handoffOutput = z.object({ success, code: z.string(), expiresAt: z.iso.datetime() })

/** POST /sdk/handoff/redeem. */
export const redeemInput = z.object({ code: requiredText('handoff_code_required') })
export const redeemOutput = z.object({ success, sessionToken: z.string(), expiresAt: z.iso.datetime() })

/** GET and POST /pay/:code (Solana Pay specification, transaction request). */
export const payLinkInput = z.object({ code: z.string() })
export const payLinkOutput = z.object({ success, label: z.string(), icon: z.string() })
export const payInput = payLinkInput.extend({
  account: checkedText('invalid_account', 'invalid_account', isAddress).meta({
    description: 'The wallet that scanned the link, which will pay',
  }),
})
export const payOutput = z.object({ success, transaction: z.base64(), message: z.string() })

/** `round`: events have whole milliseconds, and a moment between two must be on the right side of both. */
const timestampInput = (wrong: ErrorCode, round: (ms: number) => number) =>
  z
    .string(wrong)
    .transform((text) => round(parseTimestamp(text) ?? Number.NaN))
    .refine((ms) => !Number.isNaN(ms), wrong)
    .transform((ms) => new Date(ms))
    .optional()

/** GET /sdk/events. */
export const eventsInput = z.object({
  creatorId: requiredText('creator_id_required'),
  since: timestampInput('invalid_since', Math.floor).meta({
    format: 'date-time',
    description: 'Only events after this moment; RFC 3339, without an offset UTC',
  }),
  before: timestampInput('invalid_before', Math.ceil).meta({
    format: 'date-time',
    description: 'Only events before this moment: pages back',
  }),
})
export type EventsInput = z.output<typeof eventsInput>

const event = z.object({
  eventId: z.string(),
  type: z.literal('tip_completed'),
  amountUsdc: z.number().meta({ description: 'Display units of a tip in USDC, else 0' }),
  amountRaw: z.number().meta({ description: 'Base units of the token' }),
  receivedAmount: z.number().meta({ description: 'What the creator received, display units' }),
  tokenSymbol: z.string(),
  sender: z.string(),
  senderName: senderNameOutput,
  timestamp: z.iso.datetime(),
  txSignature: z.string(),
  ...ownReferenceOutput,
})
export type SdkEvent = z.output<typeof event>
export const eventsOutput = z.object({
  success,
  events: z.array(event),
  hasMore: z.boolean().meta({
    description:
      'There are further events in this range, older than the last one here: send its timestamp as `before`',
  }),
})
export type EventsAnswer = Omit<z.output<typeof eventsOutput>, 'success'>
