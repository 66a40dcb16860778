import { z } from 'zod'
import { stepUpFields } from '../../accounts/step-up/step-up.js'
import { requiredText } from '../../http/input.js'
import { cursorInput, limitInput } from '../../http/paging.js'
import { takeOutStates } from './lifecycle.js'

const success = z.literal(true)
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

export const prepareInput = z.object({
  mint: requiredText('invalid_mint'),
  amount: requiredText('invalid_amount').meta({ description: 'Decimal text in display units' }),
  ...stepUpFields,
})

const id = requiredText('transfer_not_found').pipe(z.uuid('transfer_not_found'))
export const transferInput = z.object({ id })
export const signInput = z.object({
  id,
  transaction: requiredText('invalid_transaction').meta({
    description: 'Base64: the prepared transaction with the signature of the payout wallet',
  }),
})

/** The cursor contains the time of creation (epoch ms) and the id. */
export const transfersInput = z.object({
  cursor: cursorInput(new RegExp(`^\\d{1,14}\\.${uuid.source}$`)),
  limit: limitInput,
})
export type TransfersInput = z.output<typeof transfersInput>

const transfer = z.object({
  id: z.uuid(),
  status: z.enum(takeOutStates),
  mint: z.string(),
  tokenSymbol: z.string(),
  amount: z.string(),
  wallet: z.string(),
  transaction: z.string().nullable().meta({
    description:
      'Base64. `prepared`: for the payout wallet to sign; `signed`: complete, to be submitted; else null',
  }),
  signature: z.string().nullable(),
  lastValidBlockHeight: z.number().int(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  signedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
})
export type Transfer = z.output<typeof transfer>

const takeableToken = z.object({ mint: z.string(), tokenSymbol: z.string(), amount: z.string() })
export type TakeableToken = z.output<typeof takeableToken>
export const takeableAnswer = z.object({ success, tokens: z.array(takeableToken) })

export const transferAnswer = z.object({ success, transfer })
export const transfersAnswer = z.object({
  success,
  transfers: z.array(transfer),
  nextCursor: z.string().nullable(),
})
