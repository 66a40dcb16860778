import { z } from 'zod'
import { textOf } from '../http/input.js'
import { cursorInput, formatInput, limitInput } from '../http/paging.js'
import type { ErrorCode } from '../kernel/errors.js'
import { isBankCode, isPayoutReference } from '../kernel/ids.js'
import { cleanLine } from '../kernel/text.js'
import { outgoingStatuses } from '../outgoing/lifecycle.js'
import { holds } from './lifecycle.js'
import { parseAmount } from './price-withdrawal.js'

const missing = 'bank_details_required'
/** Room for ten digits with blanks and hyphens between them. */
const maxAccountText = 64
const nameLength = { least: 2, most: 100 } as const

const bankCode = z
  .string(missing)
  .refine(isBankCode, {
    error: missing,
    params: { problem: 'must be three digits, or a code of up to six digits that the list of banks has' },
  })
  .meta({ description: 'Three digits, or the code of four to six digits that `GET /creators/banks` lists' })
const accountNumber = z
  .string(missing)
  .max(maxAccountText, missing)
  .transform((text) => text.replace(/\D/g, ''))
  .refine((digits) => digits.length === 10, { error: missing, params: { problem: 'must have ten digits' } })
  .meta({ description: 'Ten digits; anything else is stripped' })
const accountName = z
  .string(missing)
  .transform((text) => cleanLine(text))
  .pipe(textOf(nameLength, missing))
  .meta({ description: 'The holder as the bank knows it, 2 to 100 characters' })
// PostgreSQL refuses text with U+0000. No reference contains control characters.
const referenceText = (error: ErrorCode) =>
  z
    .string(error)
    .max(100, error)
    .regex(/^\P{Cc}*$/u, error)
type BankField = 'bankCode' | 'accountNumber' | 'accountName'
type Bank = { readonly [name in BankField | 'bankAccountOf']?: unknown }
const bankRule = (path: string, problem: string) => ({
  error: missing,
  when: isObject,
  path: [path],
  params: { problem },
})
const isGiven = (field: BankField) => (bank: Bank) =>
  bank[field] !== undefined || bank.bankAccountOf !== undefined
const standsAlone = ({ bankAccountOf, bankCode, accountNumber, accountName }: Bank) =>
  bankAccountOf === undefined || [bankCode, accountNumber, accountName].every((field) => field === undefined)
const isObject = ({ value }: { readonly value: unknown }): boolean =>
  typeof value === 'object' && value !== null
const amount = (description: string) => z.unknown().optional().meta({ type: 'number', description })

export const withdrawInput = z
  .object({
    amountUSDC: amount('This or amountNGN; positive, not above the available balance'),
    amountNGN: amount('This or amountUSDC; before the fee'),
    bankCode: bankCode.optional(),
    accountNumber: accountNumber.optional(),
    accountName: accountName.optional(),
    bankAccountOf: referenceText(missing).optional().meta({
      description: 'Instead of the three: the reference of an own withdrawal, whose account is paid',
    }),
  })
  // Checked also when other fields are invalid, because the amount is refused first.
  .refine(({ amountUSDC, amountNGN }) => parseAmount(amountUSDC, amountNGN), {
    error: 'invalid_amount',
    when: isObject,
    path: ['amountUSDC'],
    params: { problem: 'give amountUSDC or amountNGN, one of the two, as a finite positive number' },
  })
  .refine(isGiven('bankCode'), bankRule('bankCode', 'is missing'))
  .refine(isGiven('accountNumber'), bankRule('accountNumber', 'is missing'))
  .refine(isGiven('accountName'), bankRule('accountName', 'is missing'))
  .refine(
    standsAlone,
    bankRule('bankAccountOf', 'must stand without bankCode, accountNumber and accountName'),
  )
export type WithdrawInput = z.output<typeof withdrawInput>

const heldFor = z.enum(holds).nullable().meta({
  description: 'What it waits for before it is sent; null for nothing. `dispute` comes later',
})
const ngn = z.number().meta({ description: 'NGN, two decimals' })

export const withdrawAnswer = z.object({
  success: z.literal(true),
  provider: z.literal('fiatpay'),
  reference: z.string().refine(isPayoutReference),
  status: z.enum(['pending', 'submitted']),
  amountNGN: ngn,
  systemFeeNGN: ngn,
  amountUSDC: z.number().optional().meta({ description: 'Only of a request in USDC' }),
  currency: z.enum(['USDC', 'NGN']),
  requiresVerification: z
    .boolean()
    .meta({ description: 'Held until the identity of the creator is verified' }),
  heldFor,
})
export type WithdrawAnswer = Omit<z.output<typeof withdrawAnswer>, 'success'>

/** GET /payouts/history. The cursor holds a withdrawal's creation time (epoch ms) and its id. */
export const historyInput = z.object({
  reference: referenceText('invalid_reference').optional(),
  status: z.enum(outgoingStatuses, 'invalid_status').optional(),
  cursor: cursorInput(/^\d{1,14}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  limit: limitInput,
  format: formatInput,
})
export type HistoryInput = z.output<typeof historyInput>

const time = z.iso.datetime().nullable()
const payout = z.object({
  reference: z.string(),
  provider: z.literal('fiatpay'),
  status: z.enum(outgoingStatuses),
  currency: z.enum(['USDC', 'NGN']),
  amountNGN: ngn,
  promisedNGN: ngn.meta({
    description: 'NGN promised at the request; more than amountNGN when the rate fell while it was held',
  }),
  systemFeeNGN: ngn,
  amountUSDC: z.number(),
  bankCode: z.string(),
  bankName: z.string().nullable(),
  accountNumber: z.string().meta({ description: 'The last four digits shown' }),
  accountName: z.string(),
  requiresVerification: z.boolean(),
  heldFor,
  failureReason: z.string().nullable(),
  createdAt: z.iso.datetime(),
  submittedAt: time,
  processingAt: time,
  completedAt: time,
  failedAt: time,
})
export type PayoutRecord = z.output<typeof payout>

export const historyAnswer = z.object({
  success: z.literal(true),
  payouts: z.array(payout),
  nextCursor: z.string().nullable(),
})

/** POST /payouts/:reference/confirm, and what is done with one withdrawal. */
export const ownInput = z.object({ reference: referenceText('withdrawal_not_found') })
export const confirmInput = ownInput.extend({
  code: z.string('invalid_code').optional().meta({ description: 'The mailed code; or `totp`, or `passkey`' }),
  totp: z.string('invalid_code').optional().meta({
    description: 'A code of an authenticator app that was confirmed at least 72 hours ago; no recovery code.',
  }),
  passkey: z
    .unknown()
    .optional()
    .meta({ type: 'object', description: 'The answer of a passkey that was added at least 72 hours ago' }),
})
export type ConfirmInput = z.output<typeof confirmInput>
export const withdrawalAnswer = payout.extend({ success: z.literal(true) })

const payee = z.object({
  id: z.uuid(),
  bankCode: z.string(),
  bankName: z.string().nullable(),
  accountNumber: z.string().meta({ description: 'The last four digits shown' }),
  accountName: z.string(),
  confirmed: z.boolean().meta({
    description: 'A withdrawal was sent to it, or one to it was confirmed: its account needs no confirmation',
  }),
  addedAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime(),
})
export type PayeeRecord = z.output<typeof payee>
export const payeesAnswer = z.object({ success: z.literal(true), payees: z.array(payee) })
export const payeeInput = z.object({ id: z.uuid('payee_not_found') })

const usedBankAccount = z.object({
  reference: z
    .string()
    .meta({ description: 'The last withdrawal to this account; `bankAccountOf` of a withdrawal' }),
  bankCode: z.string(),
  bankName: z.string().nullable(),
  accountNumber: z.string().meta({ description: 'The last four digits shown' }),
  accountName: z.string(),
  lastUsedAt: z.iso.datetime(),
})
export type UsedBankAccount = z.output<typeof usedBankAccount>
export const bankAccountsAnswer = z.object({
  success: z.literal(true),
  bankAccounts: z.array(usedBankAccount),
})

export const banksInput = z.object({
  q: z
    .string('invalid_q')
    .max(100, 'invalid_q')
    .transform((text) => text.trim())
    .optional()
    .meta({ description: 'Only banks whose name, nickname or code has each of these words' }),
})
export const banksAnswer = z.object({
  success: z.literal(true),
  banks: z.array(
    z.object({
      code: z.string(),
      name: z.string(),
      nicknames: z.array(z.string()).meta({ description: 'What people call it; for a search' }),
    }),
  ),
})

export const resolveInput = z.object({ bankCode, accountNumber })
export const resolveAnswer = z.object({ success: z.literal(true), accountName: z.string() })
