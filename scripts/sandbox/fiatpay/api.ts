import { z } from 'zod'
import {
  json,
  type NoAnswer,
  parseJson,
  readChecked,
  type SandboxAnswer,
  type SandboxRequest,
} from '../http-server.js'
import type { Fiatpay } from './fiatpay.js'

// What the endpoints of the provider's API have in common: its envelope, refusals, faults, input and pages.

type Answer = SandboxAnswer | NoAnswer

export type Endpoint = (fiatpay: Fiatpay, request: SandboxRequest) => Answer

export function ok(message: string, data: unknown, status = 200): SandboxAnswer {
  return json(status, { status: true, message, data })
}

/** Status and text of every refusal by the provider's code, as documented by the provider and its users. */
const refusals = {
  invalid_Key: [401, 'Invalid key'],
  invalid_params: [400, 'Invalid parameters'],
  invalid_email_address: [400, 'Invalid Email Address Passed'],
  invalid_amount: [400, 'Invalid Amount Sent'],
  amount_limit_exceeded: [400, 'Transaction amount limit exceeded'],
  amount_too_low: [400, 'Pay with transfer is not currently supported for transactions less than NGN 100.00'],
  invalid_reference: [400, 'Invalid character in transaction reference'],
  duplicate_reference: [400, 'Duplicate Transaction Reference'],
  transaction_not_found: [404, 'Transaction reference not found.'],
  // The provider does not document the texts of the next two.
  dispute_not_found: [404, 'Dispute not found'],
  dispute_resolved: [400, 'Dispute has already been resolved'],
  invalid_bank_code: [422, 'Could not resolve account name. Check parameters or try again.'],
  invalid_account_number: [400, 'Account number is invalid'],
  invalid_transfer_reference: [400, 'Your reference contains illegal special characters'],
  invalid_transfer_recipient: [400, 'Recipient specified is invalid'],
  transfer_rejected: [400, "Sorry, we can't make the transfer to this recipient at the moment"],
  insufficient_balance: [400, 'Your balance is not enough to fulfil this request'],
  duplicate_transfer_reference: [
    400,
    'Please provide a unique reference. Reference already exists on a transfer',
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>

type RefusalCode = keyof typeof refusals

/** The refusal of a wrong value by the name of its field. Other fields: `invalid_params`. */
const refusalOfField: Readonly<Record<string, RefusalCode>> = {
  email: 'invalid_email_address',
  customer_email: 'invalid_email_address',
  amount: 'invalid_amount',
  refund_amount: 'invalid_amount',
  reference: 'invalid_reference',
  account_number: 'invalid_account_number',
  recipient: 'invalid_transfer_recipient',
}

/** A refusal of the provider, answered in its envelope. */
export class Refusal extends Error {
  readonly answer: SandboxAnswer

  constructor(code: RefusalCode, message: string = refusals[code][1]) {
    super(message)
    this.answer = json(refusals[code][0], { status: false, message, type: 'validation_error', code })
  }
}

/** @throws Refusal with the code that the schema names as the fault's text, else with that of the field */
function readFields<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return readChecked(schema, value, (message, field) => {
    const known = Object.hasOwn(refusals, message) ? (message as RefusalCode) : undefined
    return new Refusal(known ?? refusalOfField[field] ?? 'invalid_params')
  })
}

/** The body, checked. Throws Refusal. */
export function readInput<Schema extends z.ZodType>(schema: Schema, request: SandboxRequest) {
  return readFields(schema, parseJson(request.body))
}

/** The query, checked. Throws Refusal. */
export function readQuery<Schema extends z.ZodType>(schema: Schema, { url }: SandboxRequest) {
  return readFields(schema, Object.fromEntries(url.searchParams))
}

const emailMax = 254

/** An amount in kobo, as a number or as digits. The caller sets the upper limit. */
export const kobo = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ])
  .pipe(z.int().positive())
/** The provider refuses `.local`, which is not a top-level domain. */
export const email = z
  .email()
  .max(emailMax)
  .refine((text) => !text.toLowerCase().endsWith('.local'))
export const naira = z.literal('NGN').default('NGN')

const perPageMax = 100
const perPageDefault = 50
const pageMax = 1_000_000

const day = z.iso.datetime({ offset: true }).or(z.iso.date())
const paging = z.object({
  perPage: z.coerce.number().int().min(1).max(perPageMax).default(perPageDefault),
  page: z.coerce.number().int().min(1).max(pageMax).default(1),
})
const filters = z.object({ from: day.optional(), to: day.optional(), status: z.string().max(20).optional() })

/** The requested page of the rows with the provider's paging data, in its envelope. */
export function okPage(message: string, rows: readonly unknown[], request: SandboxRequest): SandboxAnswer {
  const { perPage, page } = readQuery(paging, request)
  const skipped = (page - 1) * perPage
  const meta = { total: rows.length, skipped, perPage, page, pageCount: Math.ceil(rows.length / perPage) }
  return json(200, { status: true, message, data: rows.slice(skipped, skipped + perPage), meta })
}

/** As `okPage`, of the rows that match the query's `status`, `from` and `to`, newest first. */
export function okNewest(
  message: string,
  rows: readonly { readonly status: string; readonly createdAt: string }[],
  request: SandboxRequest,
): SandboxAnswer {
  const { from, to, status } = readQuery(filters, request)
  const matching = rows.filter(
    (row) =>
      (status === undefined || row.status === status) &&
      (from === undefined || Date.parse(row.createdAt) >= Date.parse(from)) &&
      (to === undefined || Date.parse(row.createdAt) <= Date.parse(to)),
  )
  return okPage(message, matching.reverse(), request)
}

export const down: SandboxAnswer = html(503, 'Service Unavailable')

/** The answer, or lack of one, of each fault. None says whether the request was executed. */
const faultAnswers: Readonly<Record<string, Answer>> = {
  timeout: 'hang',
  reset: 'reset',
  'refuse-connection': 'reset',
  '500': json(500, { status: false, message: 'An error occurred' }),
  garbage: html(200, 'Bad Gateway'),
  down,
}

/** The answer of an action, or of the `Refusal` that it throws. */
function answerOrRefusal(act: () => Answer): Answer {
  try {
    return act()
  } catch (error) {
    if (error instanceof Refusal) return error.answer
    throw error
  }
}

/** Answers as a mode says: with its fault instead of acting, with its fault after acting (`accept-then-`), or honestly. */
export function answerInMode(mode: string, act: () => Answer): Answer {
  const fault = faultAnswers[mode.replace('accept-then-', '')]
  if (fault !== undefined && !mode.startsWith('accept-then-')) return fault
  const answer = answerOrRefusal(act)
  return fault ?? answer
}

function html(status: number, title: string): SandboxAnswer {
  const body = `<!DOCTYPE html><html><head><title>${title}</title></head><body>${title}</body></html>`
  return { status, type: 'text/html', body }
}
