import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import type { NewPayout, PayoutSender } from '../../ports/payout-sender.js'
import { answer, createFiatpayRequest, type FiatpayAccess, type FiatpayReply, refusal } from './requests.js'

const textLength = 200

/** Documented refusals to pay this payee. */
const payeeRefusals = new Set([
  'transfer_rejected',
  'invalid_transfer_recipient',
  'invalid_account_number',
  'invalid_bank_code',
])
/** Documented refusals of our account: float empty, credentials, limits. An undocumented code proves nothing. */
const accountRefusals = new Set([
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

/** Sending in Paystack's wire format: `POST /transferrecipient`, `POST /transfer`. Amounts are whole kobo. */
export function createFiatpayPayoutSender(access: FiatpayAccess): PayoutSender {
  const request = createFiatpayRequest(access)
  return {
    async createRecipient({ bankCode, accountNumber, accountName }) {
      const account = { account_number: accountNumber, bank_code: bankCode, name: accountName }
      const reply = await request('/transferrecipient', { type: 'nuban', currency: 'NGN', ...account })
      const parsed = recipientAnswer.safeParse(reply.body)
      if (parsed.success && reply.status < 300) return parsed.data.data.recipient_code
      throw recipientFailure(reply)
    },
    async send(payout) {
      const reply = await request('/transfer', wirePayout(payout))
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

/** Creating a recipient moves no money, so everything except a refusal of the bank account may be repeated. */
function recipientFailure({ status, body }: FiatpayReply): ProviderError {
  const refused = refusal.safeParse(body).data
  const aboutAccount = status === 400 || status === 422
  if (refused !== undefined && aboutAccount && refused.code !== 'invalid_Key')
    return new ProviderError('rejected', cleanLine(refused.message, textLength), status)
  return new ProviderError('unavailable', `fiatpay answered ${status} to a recipient`, status)
}

/** The code decides, never the text. An answer without a documented code may come from a proxy before the provider. */
function sendFailure({ status, body }: FiatpayReply): ProviderError {
  const refused = status >= 400 && status < 500 ? refusal.safeParse(body).data : undefined
  const { code = '', message = '' } = refused ?? {}
  if (payeeRefusals.has(code)) return new ProviderError('rejected', cleanLine(message, textLength), status)
  if (accountRefusals.has(code))
    return new ProviderError('unavailable', `fiatpay refuses our account: ${code}`, status)
  if (status === 429) return new ProviderError('unavailable', 'fiatpay limits our requests (429)', status)
  return new ProviderError('ambiguous', `fiatpay answered ${status} ${code}`.trimEnd(), status)
}
