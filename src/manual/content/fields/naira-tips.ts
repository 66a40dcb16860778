import { moment } from './examples.js'
import type { FieldNotes } from './field-note.js'

const fiatIntentId = 'fiatpay_8c1f0a7be4d24f6b9a3dd0c5e7f61b42'

/** Fields of naira tips. */
export const nairaTipsFields: FieldNotes = {
  'get /payments/fiat/rate > amount': { example: '20' },
  'post /payments/fiat/intent > amount': { example: 20 },
  'post /payments/fiat/intent > amountNgn': { omit: true, example: 31_000 },
  'paymentInstructions.amount': { example: 30_400 },
  'post /payments/fiat/intent < intentId': { example: fiatIntentId },
  'get /payments/fiat/status > intentId': { note: 'The `fiatpay_` id.', example: fiatIntentId },
  'get /payments/fiat/status < intentId': { example: fiatIntentId },
  'get /payments/fiat/status < completedAt': { note: 'Null until it is settled.', example: moment },
  'get /payments/fiat/status < status': { example: 'completed' },
  'get /payments/fiat/status < receivedNgn': {
    note: 'Naira that arrived for an unpaid tip, too few for it. They wait until the payer says what to do with them.',
    example: 5000,
  },
  senderName: { example: 'Chidi' },
  payerEmail: { example: 'chidi@example.com' },
  memo: { example: 'for the album' },
  isAnonymous: { example: false },
  checkoutUrl: { example: 'https://checkout.example/p/8c1f0a7be4d2' },
  paymentInstructions: {
    note: 'Instead of `checkoutUrl`, when the creator takes bank transfers; else null.',
    example: null,
  },
  'paymentInstructions.bankName': { note: 'Where to transfer to.', example: 'Wema Bank' },
  'paymentInstructions.accountNumber': { note: 'Ten digits, as text.', example: '9930004521' },
  'paymentInstructions.accountName': { note: 'The name that the bank app shows.', example: 'TIPS / Ada Obi' },
  'paymentInstructions.reference': { example: fiatIntentId },
  base: { example: 'USD' },
  rate: { note: 'Naira for a dollar.', example: 1600 },
  amountUsd: { note: 'The requested amount in US dollars.', example: 20 },
  amountNgn: { note: 'What the payer is charged.', example: 30_400 },
  platformFee: { note: 'USD: 5 % of the amount.', example: 1 },
  finalAmountUsd: { note: 'What the creator is credited.', example: 19 },
  asOf: { note: 'When the rate was fetched.', example: moment },
  'paymentInstructions.currency': { example: 'NGN' },
  'get /payments/fiat/rate < currency': { example: 'NGN' },
}
