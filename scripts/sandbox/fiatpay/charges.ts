import { z } from 'zod'
import type { SandboxRequest } from '../http-server.js'
import { type Endpoint, email, kobo, naira, ok, okNewest, Refusal, readInput, readQuery } from './api.js'
import type { Fiatpay } from './fiatpay.js'
import { type Charge, metadata } from './records.js'
import { transactionJson } from './wire.js'

/** The provider's limit of one transaction: NGN 10,000,000. */
const amountKoboMax = 1_000_000_000
/** The provider's minimum of a bank transfer: NGN 100. */
const transferKoboMin = 10_000
const accountMs = 30 * 60_000
const urlMax = 2048
const accountDigits = 10

const amount = kobo.pipe(z.int().max(amountKoboMax, 'amount_limit_exceeded'))
const chargeInput = z.object({
  email,
  amount,
  reference: z
    .string()
    .regex(/^[A-Za-z0-9.=-]{1,100}$/)
    .optional(),
  currency: naira,
  metadata,
})
const initialization = chargeInput.extend({
  callback_url: z
    .url({ protocol: /^https?$/ })
    .max(urlMax)
    .optional(),
})
const bankTransfer = chargeInput.extend({
  amount: amount.pipe(z.int().min(transferKoboMin, 'amount_too_low')),
  bank_transfer: z.object({ account_expires_at: z.iso.datetime({ offset: true }).optional() }),
})
const listQuery = z.object({ reference: z.string().max(200).optional() })

/** `POST /transaction/initialize`: creates a charge with a checkout page. */
export const initialize: Endpoint = (fiatpay, request) => {
  const input = readInput(initialization, request)
  const callbackUrl = input.callback_url ?? null
  const { reference } = createCharge(fiatpay, input, { channel: 'card', callbackUrl, account: null })
  return ok('Authorization URL created', {
    authorization_url: checkoutUrl(fiatpay, request, reference),
    access_code: reference,
    reference,
  })
}

/** `POST /charge`: creates a charge by bank transfer to an account. */
export const charge: Endpoint = (fiatpay, request) => {
  const input = readInput(bankTransfer, request)
  const number = String(fiatpay.ids.next()).slice(-accountDigits)
  const expiresAt = input.bank_transfer.account_expires_at ?? new Date(Date.now() + accountMs).toISOString()
  const account = { number, expiresAt }
  const { reference } = createCharge(fiatpay, input, { channel: 'bank_transfer', callbackUrl: null, account })
  return ok('Charge attempted', {
    reference,
    status: 'pending_bank_transfer',
    display_text: 'Please make a transfer to the account specified',
    account_name: 'SANDBOX-MANAGED-ACCOUNT',
    account_number: number,
    bank: { slug: 'test-bank', name: 'Test Bank', id: 1 },
    account_expires_at: expiresAt,
  })
}

/** `GET /transaction/verify/:reference`: the transaction of a charge. With several payments: the newest one's. */
export const verifyTransaction: Endpoint = (fiatpay, { param: reference }) => {
  const [charge] = fiatpay.charges.listByReference(reference)
  if (charge === undefined) throw new Refusal('transaction_not_found')
  const transaction = transactionJson(fiatpay, charge, charge.payments.at(-1))
  return ok('Verification successful', { ...transaction, ...fiatpay.faults.faultFor(reference).shows })
}

/**
 * `GET /transaction`: one row per payment and per unpaid charge, newest first. The filter `reference`, which the provider
 * supports but does not document, selects the rows of one charge.
 */
export const listTransactions: Endpoint = (fiatpay, request) => {
  const { reference } = readQuery(listQuery, request)
  const { charges } = fiatpay
  const wanted = reference === undefined ? charges.all() : charges.listByReference(reference)
  const rows = wanted.flatMap((charge) =>
    (charge.payments.length === 0 ? [undefined] : charge.payments).map((payment) =>
      transactionJson(fiatpay, charge, payment),
    ),
  )
  rows.sort((one, other) => one.id - other.id)
  return okNewest('Transactions retrieved', rows, request)
}

function createCharge(
  { charges, ids }: Fiatpay,
  input: z.output<typeof chargeInput>,
  payment: Pick<Charge, 'channel' | 'callbackUrl' | 'account'>,
): Charge {
  const id = ids.next()
  const { reference = `T${id}` } = input
  if (charges.listByReference(reference).length > 0) throw new Refusal('duplicate_reference')
  return charges.write({
    ...payment,
    id,
    reference,
    email: input.email,
    amountKobo: input.amount,
    createdAt: new Date().toISOString(),
    metadata: input.metadata,
    payments: [],
    failure: null,
  })
}

/** The checkout's URL: without a setting at the host that the caller used, which its browser can reach too. */
function checkoutUrl({ checkoutUrl: base }: Fiatpay, { headers }: SandboxRequest, reference: string): string {
  const pages = base ?? `http://${headers.host ?? 'localhost'}/fiatpay/checkout`
  return `${pages.replace(/\/$/, '')}/${encodeURIComponent(reference)}`
}
