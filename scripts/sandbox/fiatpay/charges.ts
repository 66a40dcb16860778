import { z } from 'zod'
import { lastSegment, type SandboxRequest } from '../http-route.js'
import { type Endpoint, ok, okPage } from './endpoint.js'
import type { Fiatpay } from './fiatpay.js'
import { email, kobo, metadata, newestFirst, page, readInput, transactionReference } from './input.js'
import type { Charge } from './records.js'
import { Refusal } from './refusal.js'
import { transactionJson, transactionStatus } from './wire.js'

/** The provider's limit of one transaction: NGN 10,000,000. */
const amountKoboMax = 1_000_000_000
/** The provider's minimum of a bank transfer: NGN 100. */
const transferKoboMin = 10_000
const accountMinutes = 30
const urlMax = 2048
const accountDigits = 10
const referenceFilter = z.string().max(200)

const amount = kobo.pipe(z.int().max(amountKoboMax, 'amount_limit_exceeded'))
const chargeInput = z.object({
  email,
  amount,
  reference: transactionReference.optional(),
  currency: z.literal('NGN', 'invalid_params').default('NGN'),
  metadata,
})
const initialization = chargeInput.extend({
  callback_url: z
    .url({ protocol: /^https?$/, error: 'invalid_params' })
    .max(urlMax, 'invalid_params')
    .optional(),
})
const bankTransfer = chargeInput.extend({
  amount: amount.pipe(z.int().min(transferKoboMin, 'amount_too_low')),
  bank_transfer: z.object(
    { account_expires_at: z.iso.datetime({ offset: true, error: 'invalid_params' }).optional() },
    'invalid_params',
  ),
})

/** `POST /transaction/initialize`: creates a charge with a checkout page. */
export const initialize: Endpoint = (fiatpay, request) => {
  const input = readInput(initialization, request)
  const callbackUrl = input.callback_url ?? null
  const { reference } = createCharge(fiatpay, input, { channel: 'card', callbackUrl, account: null })
  return ok('Authorization URL created', {
    authorization_url: checkoutUrl(request, reference),
    access_code: reference,
    reference,
  })
}

/** `POST /charge`: creates a charge by bank transfer to an account. */
export const charge: Endpoint = (fiatpay, request) => {
  const input = readInput(bankTransfer, request)
  const number = String(fiatpay.ids.next()).slice(-accountDigits)
  const { account_expires_at: expiresAt = inMinutes(accountMinutes) } = input.bank_transfer
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
export const verifyTransaction: Endpoint = (fiatpay, request) => {
  const reference = lastSegment(request)
  const [charge] = fiatpay.charges.listByReference(reference)
  if (charge === undefined) throw new Refusal('transaction_not_found')
  const payment = charge.payments.at(-1)
  const transaction = transactionJson(charge, payment, transactionStatus(fiatpay, charge, payment))
  return ok('Verification successful', { ...transaction, ...fiatpay.faults.faultFor(reference).shows })
}

/**
 * `GET /transaction`: one row per payment and per unpaid charge, newest first. The filter `reference`, which the provider
 * supports but does not document, selects the rows of one charge.
 */
export const listTransactions: Endpoint = (fiatpay, request) => {
  const reference = referenceFilter
    .optional()
    .safeParse(request.url.searchParams.get('reference') ?? undefined)
  const { charges } = fiatpay
  const wanted = reference.data === undefined ? charges.all() : charges.listByReference(reference.data)
  const rows = wanted.flatMap((charge) =>
    (charge.payments.length === 0 ? [undefined] : charge.payments).map((payment) =>
      transactionJson(charge, payment, transactionStatus(fiatpay, charge, payment)),
    ),
  )
  rows.sort((one, other) => one.id - other.id)
  return okPage('Transactions retrieved', page(newestFirst(rows, request), request))
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

/** The checkout's URL at the host that the caller used, which its browser can reach too. */
function checkoutUrl({ headers }: SandboxRequest, reference: string): string {
  return `http://${headers.host ?? 'localhost'}/fiatpay/checkout/${encodeURIComponent(reference)}`
}

function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString()
}
