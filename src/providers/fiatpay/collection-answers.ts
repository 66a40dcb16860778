import { z } from 'zod'
import { answer } from './requests.js'

export const initializeAnswer = answer(z.object({ authorization_url: z.url() }))

export const chargeAnswer = answer(
  z.object({
    status: z.literal('pending_bank_transfer'),
    account_name: z.string(),
    account_number: z.string(),
    bank: z.object({ name: z.string() }),
  }),
)

/** `amount`: kobo. */
const transaction = z.object({
  id: z.int().positive(),
  status: z.string(),
  reference: z.string(),
  amount: z.int().positive(),
  currency: z.string(),
  paid_at: z.iso.datetime({ offset: true }).nullable(),
})

export const verifyAnswer = answer(transaction)
export const listAnswer = answer(z.array(transaction))
