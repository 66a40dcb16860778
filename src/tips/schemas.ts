import { z } from 'zod'
import { checkedText, requiredText, truncated } from '../http/input.js'
import { isAddress, isSignature } from '../kernel/base58.js'
import type { ErrorCode } from '../kernel/errors.js'
import { tipStatuses } from './lifecycle.js'

/** API: the token symbol of a fiat tip. */
export const fiatSymbol = 'FIAT'

export const tipStatus = z.enum(tipStatuses)

const missing: ErrorCode = 'tip_fields_required'
const invalidAmount: ErrorCode = 'invalid_tip_amount'

/** API: POST /chain/tips/create. The first wrong field in this order decides the error. */
export const recordTipInput = z.object({
  creatorWallet: checkedText(missing, 'invalid_creator_wallet', isAddress),
  tipAmount: z
    .number({ error: ({ input }) => (input === undefined ? missing : invalidAmount) })
    .positive(invalidAmount)
    .meta({ description: 'Raw base units; for tokens other than SOL a decimal is taken as display units' }),
  senderWallet: checkedText(missing, 'invalid_sender_wallet', isAddress),
  txSignature: checkedText(missing, 'invalid_tx_signature', isSignature),
  message: z.string().optional().meta({ description: 'Supporter message, kept to 500 characters' }),
  tokenSymbol: z.string().optional().meta({ description: 'Default SOL' }),
  intentId: z
    .string()
    .optional()
    .meta({ description: 'The intent this transaction was issued for: ties the message to it' }),
})
export type RecordTipInput = z.output<typeof recordTipInput>

export const recordTipOutput = z.object({
  success: z.literal(true),
  tip: z.object({
    id: z.string(),
    status: tipStatus,
    recipientId: z.uuid().optional(),
    amount: z.number().optional(),
    tokenSymbol: z.string().optional(),
  }),
  message: z.enum(['Tip recorded successfully', 'Tip already recorded']),
  truncated,
})

export const listTipsInput = z.object({
  address: requiredText('address_required').meta({
    description: 'Wallet address (base58), user id or .sol domain',
  }),
})

/** The name that a crypto supporter gave. Absent: none. */
export const senderNameOutput = z
  .string()
  .optional()
  .meta({ description: 'The name that a crypto supporter gave; `sender` stays the wallet' })

/** A tip in a list, of the API and of the dashboard. */
export const tipListItem = z.object({
  signature: z.string(),
  recipient: z.string(),
  recipient_id: z.string().nullable(),
  sender: z.string(),
  sender_id: z.string().nullable(),
  amount: z.number(),
  receivedAmount: z
    .number()
    .nullable()
    .meta({ description: 'What the creator received, after the platform fee' }),
  tokenSymbol: z.string(),
  message: z.string().nullable(),
  timestamp: z.iso.datetime(),
  status: tipStatus,
  valueUsd: z.number(),
  isStable: z.boolean(),
  fiatDetails: z
    .object({ platformFee: z.number(), finalAmountUsd: z.number(), amountNgn: z.number() })
    .nullable()
    .meta({ description: 'Of a fiat tip; once it is completed, what was paid and credited' }),
  refundedAmount: z
    .number()
    .optional()
    .meta({ description: 'How much of `amount` was given back, or is on its way back. Absent: nothing' }),
})
export type TipListItem = z.output<typeof tipListItem>

export const listTipsOutput = z.object({ success: z.literal(true), tips: z.array(tipListItem) })

export const streamInput = z.object({ wallet: checkedText('wallet_required', 'invalid_wallet', isAddress) })

export const streamEvent = z.union([
  z.object({ status: z.literal('connected'), wallet: z.string() }),
  z.object({
    type: z.literal('tip'),
    amount: z.number(),
    receivedAmount: z.number(),
    tokenSymbol: z.string(),
    sender: z.string(),
    senderName: senderNameOutput,
    amountNgn: z.number().optional().meta({ description: 'What was paid for a naira tip' }),
    message: z.string().nullable(),
    timestamp: z.iso.datetime(),
    eventId: z.string().meta({ description: 'As in GET /sdk/events' }),
    valueUsd: z.number().meta({ description: 'At the last known price; 0 if none was ever known' }),
  }),
])
