import { json, type SandboxAnswer } from '../http-route.js'

/** Status, text and advice of every refusal by the provider's code, as documented by the provider and its users. */
const refusals = {
  invalid_Key: [401, 'Invalid key', 'Ensure that you provide the correct authorization key for the request'],
  invalid_params: [400, 'Invalid parameters', "Ensure that the value(s) you're passing are valid."],
  invalid_email_address: [
    400,
    'Invalid Email Address Passed',
    'Ensure that the email follows the format: username@example.com',
  ],
  invalid_amount: [400, 'Invalid Amount Sent', 'Ensure the amount is an integer greater than 0'],
  amount_limit_exceeded: [
    400,
    'Transaction amount limit exceeded',
    'Re-initialize the transaction with a lower amount',
  ],
  amount_too_low: [
    400,
    'Pay with transfer is not currently supported for transactions less than NGN 100.00',
    "Ensure you're passing an amount greater than or equal to NGN 100 in Kobo",
  ],
  invalid_reference: [
    400,
    'Invalid character in transaction reference',
    'Use alphanumeric characters and - . = only',
  ],
  duplicate_reference: [
    400,
    'Duplicate Transaction Reference',
    'Ensure that you use a unique reference for every transaction',
  ],
  transaction_not_found: [
    404,
    'Transaction reference not found.',
    "Ensure that you're passing the reference of a transaction that exists on this integration",
  ],
  // The provider does not document the texts of the next two.
  dispute_not_found: [404, 'Dispute not found', "Ensure that you're passing the id of an existing dispute"],
  dispute_resolved: [
    400,
    'Dispute has already been resolved',
    'Fetch the dispute to see how it was resolved',
  ],
  invalid_bank_code: [
    422,
    'Could not resolve account name. Check parameters or try again.',
    "Ensure that you're passing the correct bank code",
  ],
  invalid_account_number: [400, 'Account number is invalid', 'Ensure that the account number has ten digits'],
  invalid_transfer_reference: [
    400,
    'Your reference contains illegal special characters',
    'Use lowercase alphanumeric characters, hyphen and underscore only',
  ],
  invalid_transfer_recipient: [
    400,
    'Recipient specified is invalid',
    'Provide a valid recipient. Ensure you are passing the recipient code in the recipient param',
  ],
  transfer_rejected: [
    400,
    "Sorry, we can't make the transfer to this recipient at the moment",
    'The customer should reach out to the bank to resolve the issues with their account',
  ],
  insufficient_balance: [
    400,
    'Your balance is not enough to fulfil this request',
    'Top up your balance and try again',
  ],
  duplicate_transfer_reference: [
    400,
    'Please provide a unique reference. Reference already exists on a transfer',
    'Create a new reference for the new transfer',
  ],
} as const satisfies Record<string, readonly [status: number, message: string, nextStep: string]>

type RefusalCode = keyof typeof refusals

export function isRefusalCode(text: string): text is RefusalCode {
  return Object.hasOwn(refusals, text)
}

/** A refusal of the provider, answered in its envelope. */
export class Refusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string = refusals[code][1]) {
    super(message)
    this.code = code
  }

  get answer(): SandboxAnswer {
    const [status, , nextStep] = refusals[this.code]
    const { code, message } = this
    return json(status, { status: false, message, meta: { nextStep }, type: 'validation_error', code })
  }
}
