import { z } from 'zod'
import { factorInput } from '../accounts/factors/schemas.js'

const success = z.literal(true)

export const closeInput = factorInput.extend({
  password: z.string().min(1).optional(),
  leaveTokens: z.boolean().optional(),
})

export const exportAnswer = z.object({
  success,
  export: z.object({
    status: z.enum(['preparing', 'ready', 'expired', 'failed']),
    requestedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
  }),
})

const rows = z.array(z.looseObject({}))
/** The file. It gets more fields when more is stored. */
export const exportFile = z.looseObject({
  success,
  madeAt: z.iso.datetime(),
  account: rows,
  emailChanges: rows,
  sessions: rows,
  devices: rows,
  secondFactors: rows,
  apiKeys: rows,
  sites: rows,
  emails: rows,
  actionsOfOperators: rows,
  balances: rows,
  bankAccounts: rows,
  payees: rows,
  tips: rows,
  transactions: rows,
  withdrawals: rows,
  longer: rows,
})
