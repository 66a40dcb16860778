import { json, type SandboxAnswer } from '../http-route.js'

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

export function isRefusalCode(text: string): text is RefusalCode {
  return Object.hasOwn(refusals, text)
}

/** A refusal of the provider, answered in its envelope. */
export class Refusal extends Error {
  readonly answer: SandboxAnswer

  constructor(code: RefusalCode, message: string = refusals[code][1]) {
    super(message)
    this.answer = json(refusals[code][0], { status: false, message, type: 'validation_error', code })
  }
}
