import { z } from 'zod'
import { isAddress } from '../kernel/base58.js'
import { baseUnits, displayText } from '../kernel/money.js'

/** The most naira that the provider takes at once. */
const mostKobo = 100_000_000_000n
/** Whole tokens at once. */
const mostTokens = 10_000
const tokenDecimals = 9
const nameLength = 44

const success = z.literal(true)
/** A text longer than any of ours names nothing. PostgreSQL refuses text with U+0000. */
const ofCreator = (error: string) =>
  z
    .string(error)
    .max(100, error)
    .regex(/^\P{Cc}*$/u, error)

export const paymentInput = z.object({
  intentId: ofCreator('payment_intent_not_found'),
  outcome: z.enum(['paid', 'failed', 'disputed'], 'invalid_outcome'),
  amountNgn: z
    .number('invalid_amount')
    .transform((amount) => baseUnits(amount, 2))
    .refine((kobo) => kobo !== undefined && kobo <= mostKobo, {
      error: 'invalid_amount',
      params: { problem: 'must be from 0.01 to 1000000000' },
    })
    .optional(),
})

export const withdrawalInput = z.object({
  reference: ofCreator('withdrawal_not_found'),
  outcome: z.enum(['success', 'failed', 'reversed'], 'invalid_outcome'),
})

export const airdropInput = z.object({
  wallet: z.string('invalid_wallet').refine(isAddress, 'invalid_wallet'),
  token: z.string('invalid_token').min(1, 'invalid_token').max(nameLength, 'invalid_token'),
  amount: z
    .number('invalid_amount')
    .max(mostTokens, 'invalid_amount')
    .transform((amount) => baseUnits(amount, tokenDecimals))
    .pipe(z.bigint('invalid_amount'))
    .transform((units) => displayText(units, tokenDecimals)),
})

export const doneAnswer = z.object({ success })
export const airdropAnswer = z.object({ success, txSignature: z.string() })
