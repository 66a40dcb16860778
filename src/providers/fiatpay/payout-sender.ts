import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import type { NewPayout, PayoutSender } from '../../ports/payout-sender.js'
import { answer, createFiatpayRequest, type FiatpayAccess, type Reply, refusal } from './requests.js'

const textLength = 200

/** Documented refusals of the payee. */
const ofThePayee = new Set([
  'transfer_rejected',
  'invalid_transfer_recipient',
  'invalid_account_number',
  'invalid_bank_code',
])
/** Documented refusals of us: float empty, credentials, limits. Whatever is documented in neither place proves nothing. */
const ofUs = new Set([
  'insufficient_balance',
  'invalid_Key',
  'invalid_amount',
  'invalid_params',
  'invalid_transfer_reference',
])

const recipientAnswer = answer(z.object({ recipient_code: z.string().min(1) }))
const transferAnswer = answer(
  z.object({
    amount: z.int().positive(),
    currency: z.literal('NGN'),
    reference: z.string(),
    transfer_code: z.string().min(1),
  }),
)

/** Sending in Paystack's wire format: `POST /transferrecipient`, `POST /transfer`. Amounts are whole kobo there too. */
export function createFiatpaySender(access: FiatpayAccess & { readonly timeoutMs: number }): PayoutSender {
  const exchange = createFiatpayRequest(access, access.timeoutMs)
  return {
    async createRecipient({ bankCode, accountNumber, accountName }) {
      const account = { account_number: accountNumber, bank_code: bankCode, name: accountName }
      const reply = await exchange('/transferrecipient', { type: 'nuban', currency: 'NGN', ...account })
      const parsed = recipientAnswer.safeParse(reply.body)
      if (parsed.success && reply.status < 300) return parsed.data.data.recipient_code
      throw recipientFailure(reply)
    },
    async send(payout) {
      const reply = await exchange('/transfer', wirePayout(payout))
      const parsed = transferAnswer.safeParse(reply.body)
      if (!parsed.success || reply.status >= 300) throw sendFailure(reply)
      const { reference, amount, transfer_code: id } = parsed.data.data
      if (reference === payout.reference && BigInt(amount) === payout.amountKobo) return id
      throw new ProviderError('ambiguous', 'fiatpay confirmed another transfer than the one sent')
    },
  }
}

function wirePayout({ reference, amountKobo, recipient, narration }: NewPayout) {
  return {
    source: 'balance',
    amount: Number(amountKobo),
    currency: 'NGN',
    recipient,
    reference,
    reason: narration,
  }
}

/** No money moves with a recipient, so whatever is no refusal of the account may be repeated. */
function recipientFailure({ status, body }: Reply): ProviderError {
  const refused = refusal.safeParse(body).data
  const aboutAccount = status === 400 || status === 422
  if (refused !== undefined && aboutAccount && refused.code !== 'invalid_Key')
    return new ProviderError('rejected', cleanLine(refused.message, textLength), status)
  return new ProviderError('unavailable', `fiatpay answered ${status} to a recipient`, status)
}

/** The code decides, never the text; an answer without a documented code may come from something before the provider. */
function sendFailure({ status, body }: Reply): ProviderError {
  const refused = status >= 400 && status < 500 ? refusal.safeParse(body).data : undefined
  const { code = '', message = '' } = refused ?? {}
  if (ofThePayee.has(code)) return new ProviderError('rejected', cleanLine(message, textLength), status)
  if (ofUs.has(code)) return new ProviderError('unavailable', `fiatpay refuses us: ${code}`, status)
  if (status === 429) return new ProviderError('unavailable', 'fiatpay asks to come later', status)
  return new ProviderError('ambiguous', `fiatpay answered ${status} ${code}`.trimEnd(), status)
}
