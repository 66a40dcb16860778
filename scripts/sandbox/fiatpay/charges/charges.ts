import { z } from 'zod'
import type { SandboxRequest } from '../../http-route.js'
import { type Endpoint, ok } from '../endpoint.js'
import type { Ids, RecordStore } from '../record-store.js'
import type { Charge } from '../records.js'
import { Refusal } from '../refusal.js'
import { email, kobo, metadata, readInput, transactionReference } from '../schemas.js'

/** The provider's limit of one transaction: NGN 10,000,000. */
const amountKoboMax = 1_000_000_000
/** The provider's minimum of a bank transfer: NGN 100. */
const transferKoboMin = 10_000
const accountMinutes = 30
const urlMax = 2048
const accountDigits = 10

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
export function initialize(charges: RecordStore<Charge>, ids: Ids): Endpoint {
  return (request) => {
    const input = readInput(initialization, request)
    const { reference } = createCharge(charges, ids, input, {
      channel: 'card',
      callbackUrl: input.callback_url ?? null,
      account: null,
    })
    return ok('Authorization URL created', {
      authorization_url: checkoutUrl(request, reference),
      access_code: reference,
      reference,
    })
  }
}

/** `POST /charge`: creates a charge by bank transfer to an account. */
export function charge(charges: RecordStore<Charge>, ids: Ids): Endpoint {
  return (request) => {
    const input = readInput(bankTransfer, request)
    const number = String(ids.next()).slice(-accountDigits)
    const { account_expires_at: expiresAt = inMinutes(accountMinutes) } = input.bank_transfer
    const account = { number, expiresAt }
    const { reference } = createCharge(charges, ids, input, {
      channel: 'bank_transfer',
      callbackUrl: null,
      account,
    })
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
}

function createCharge(
  charges: RecordStore<Charge>,
  ids: Ids,
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
