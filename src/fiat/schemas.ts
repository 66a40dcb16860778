import { z } from 'zod'
import { emailAddress } from '../accounts/schemas.js'
import { requiredText, truncated } from '../http/input.js'
import { ownReferenceFields } from '../intents/own-reference.js'
import { statusUrlOutput } from '../intents/status-url.js'
import type { ErrorCode } from '../kernel/errors.js'
import { languages } from '../kernel/languages.js'
import { intentStatusOf } from './lifecycle.js'

const missing: ErrorCode = 'fiat_intent_fields_required'
const wrongAmount: ErrorCode = 'invalid_amount'
const optionalText = (description: string) =>
  z.string().optional().catch(undefined).meta({ type: 'string', description })

/** POST /payments/fiat/intent. The fields are in the order in which they are refused. */
export const fiatIntentInput = z.object({
  creatorId: requiredText(missing).meta({
    description: 'User id (UUID, also with prefix auth_), wallet address or .sol domain',
  }),
  amount: z
    .number({ error: ({ input }) => (input === undefined ? missing : wrongAmount) })
    .meta({ description: 'USD; rounded half up to the cent' }),
  amountNgn: z
    .number(wrongAmount)
    .optional()
    .meta({ description: 'The charge in NGN instead of the converted amount' }),
  senderName: optionalText('Default Anonymous'),
  // An invalid address means no receipt; the tip is still accepted.
  payerEmail: emailAddress
    .optional()
    .catch(undefined)
    .meta({ type: 'string', description: 'For the receipt' }),
  collection: z
    .enum(['bank_transfer'])
    .optional()
    .catch(undefined)
    .meta({ description: 'A bank account to transfer to, also where the creator takes the checkout page' }),
  language: z
    .enum(languages)
    .optional()
    .catch(undefined)
    .meta({ description: 'In which the payer is written to; else English' }),
  memo: optionalText('Message to the creator, kept to 500 characters'),
  // Any value except false makes the tip anonymous.
  isAnonymous: z
    .unknown()
    .optional()
    .transform((value) => value !== undefined && value !== false)
    .meta({ type: 'boolean', description: 'Name and e-mail are withheld from the creator' }),
  ...ownReferenceFields,
})
export type FiatIntentInput = z.output<typeof fiatIntentInput>

export const fiatIntentAnswer = z.object({
  success: z.literal(true),
  intentId: z.string().regex(/^fiatpay_[0-9a-f]{32}$/),
  status: z.literal('requires_action'),
  checkoutUrl: z.string().nullable().meta({ description: 'Null when the creator takes bank transfers' }),
  paymentInstructions: z
    .object({
      bankName: z.string(),
      accountNumber: z.string(),
      accountName: z.string(),
      amount: z.number().meta({ description: 'NGN' }),
      currency: z.literal('NGN'),
      reference: z.string().meta({ description: 'The intent id' }),
    })
    .nullable()
    .meta({ description: 'Null when the payer goes to `checkoutUrl`' }),
  expiresAt: z.iso.datetime(),
  truncated,
  statusUrl: statusUrlOutput,
})
export type FiatIntentAnswer = Omit<z.output<typeof fiatIntentAnswer>, 'success'>

export const fiatStatusInput = z.object({ intentId: requiredText('intent_id_required') })
export const fiatStatusAnswer = z.object({
  success: z.literal(true),
  intentId: z.string(),
  status: z.enum(Object.values(intentStatusOf)),
  completedAt: z.iso.datetime().nullable(),
  receivedNgn: z.number().optional().meta({ description: 'Naira that wait for the payer of an unpaid tip' }),
})
export type FiatStatusAnswer = z.output<typeof fiatStatusAnswer>

export const fiatRateInput = z.object({
  amount: z
    .string(wrongAmount)
    .regex(/^\d{1,15}(\.\d{1,15})?$/, wrongAmount)
    .transform(Number)
    .default(1)
    .meta({ description: 'USD, default 1' }),
})
export const fiatRateAnswer = z.object({
  success: z.literal(true),
  base: z.literal('USD'),
  currency: z.literal('NGN'),
  rate: z.number(),
  amountUsd: z.number(),
  platformFee: z.number(),
  finalAmountUsd: z.number(),
  amountNgn: z.number(),
  asOf: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
})
export type FiatRateAnswer = Omit<z.output<typeof fiatRateAnswer>, 'success'>
