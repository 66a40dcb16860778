import { z } from 'zod'
import { cursorInput, formatInput, limitInput } from '../http/paging.js'

const usdc = z.number().meta({ description: 'USDC, six decimals' })

export const balanceAnswer = z.object({
  success: z.literal(true),
  balance: z.object({
    availableUSDC: usdc,
    pendingUSDC: usdc,
    heldUSDC: usdc,
    owedUSDC: usdc.optional(),
    disputedUSDC: usdc.optional(),
  }),
})

/** GET /creators/transactions. The cursor is an entry's id. Eighteen digits always fit an int8. */
export const statementInput = z.object({
  cursor: cursorInput(/^[1-9]\d{0,17}$/),
  limit: limitInput,
  format: formatInput,
})

const transaction = z.object({
  id: z.string(),
  timestamp: z.iso.datetime(),
  account: z.enum(['available', 'pending', 'held']),
  type: z.enum(['credit', 'reserve', 'post', 'void']),
  reference: z.string(),
  amountUSDC: usdc,
  balanceAfterUSDC: usdc,
  availableAt: z.iso.datetime().nullable().meta({
    description:
      'When money paid by card, which this line makes pending, becomes available; null on every other line',
  }),
})
export type Transaction = z.output<typeof transaction>

export const statementAnswer = z.object({
  success: z.literal(true),
  transactions: z.array(transaction),
  nextCursor: z.string().nullable(),
})
