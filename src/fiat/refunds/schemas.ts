import { z } from 'zod'
import { stepUpFields } from '../../accounts/step-up/step-up.js'
import { baseUnits } from '../../kernel/money.js'

const success = z.literal(true)

/** An id longer than any of ours names no tip. PostgreSQL refuses text with U+0000. */
const tipId = z
  .string('tip_not_found')
  .max(100, 'tip_not_found')
  .regex(/^\P{Cc}*$/u, 'tip_not_found')

/** Cents or kobo. */
const hundredths = z.number('invalid_amount').refine((amount) => baseUnits(amount, 2) !== undefined, {
  error: 'invalid_amount',
  params: { problem: 'must be at least 0.01' },
})

export const refundInput = z.object({
  id: tipId,
  amountUSD: hundredths.optional().meta({
    description: "In terms of the tip's amount, to the cent; absent, as `amountNGN`: all that is left of it",
  }),
  amountNGN: hundredths
    .optional()
    .meta({ description: 'Instead of `amountUSD`: exactly what the payer gets back, to the kobo' }),
  ...stepUpFields,
})
export type RefundInput = z.output<typeof refundInput>

const refund = z.object({
  id: z.string().meta({ description: 'Of the refund' }),
  tipId: z.string(),
  amountUSD: z.number().meta({ description: "In terms of the tip's amount" }),
  amountUSDC: z.number().meta({ description: 'What the balance is debited' }),
  amountNGN: z.number().meta({ description: 'What the payer gets back' }),
  status: z.enum(['pending', 'paid', 'failed']),
  failureReason: z.string().nullable(),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
})
export type Refund = z.output<typeof refund>

export const refundAnswer = z.object({ success, refund })

export const shortAnswer = z.object({
  success,
  decision: z.enum(['accepted', 'going_back']),
  amountNGN: z.number().meta({ description: 'What arrived' }),
})
export type ShortDecision = Omit<z.output<typeof shortAnswer>, 'success'>

export const refundsInput = z.object({ id: tipId })
export const refundsAnswer = z.object({ success, refunds: z.array(refund) })
