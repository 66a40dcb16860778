/** Every refusal the service may answer: code -> [HTTP status, exact text]. The texts are the contract's. */
export const errors = {
  invalid_json: [400, 'Invalid JSON'],
  unauthorized: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  too_many_requests: [429, 'Too many requests'],
  invalid_idempotency_key: [400, 'Invalid Idempotency-Key'],
  request_in_progress: [409, 'Request in progress'],
  idempotency_key_reused: [422, 'Idempotency-Key was used with another request'],
  internal_error: [500, 'Internal Server Error'],
  service_unavailable: [503, 'Service unavailable'],

  invalid_registration: [
    400,
    'Invalid payload: Name must be 2-100 characters and password min 8 characters.',
  ],
  email_in_use: [409, 'Email already in use'],
  invalid_login: [400, 'Invalid payload'],
  invalid_credentials: [401, 'Invalid credentials'],

  creator_not_found: [404, 'Creator not found'],
  creator_wallet_pending: [409, 'Creator wallet is being provisioned'],

  intent_fields_required: [400, 'creatorId, amount, inputTokenMint and sourceWalletAddress are required'],
  invalid_input_token_mint: [400, 'Invalid inputTokenMint'],
  invalid_source_wallet: [400, 'Invalid sourceWalletAddress'],
  invalid_amount: [400, 'Invalid amount'],
  amount_below_minimum: [422, 'Amount below the network minimum'],
  no_price: [422, 'No price for this token'],
  price_unavailable: [503, 'Price unavailable'],
  swap_engines_unavailable: [503, 'Swap engines unavailable'],

  tip_fields_required: [400, 'creatorWallet, tipAmount, senderWallet and txSignature are required'],
  invalid_creator_wallet: [400, 'Invalid creatorWallet'],
  invalid_sender_wallet: [400, 'Invalid senderWallet'],
  invalid_tx_signature: [400, 'Invalid txSignature'],
  invalid_tip_amount: [400, 'Invalid tipAmount'],
  address_required: [400, 'address is required'],
  wallet_required: [400, 'wallet is required'],
  invalid_wallet: [400, 'Invalid wallet'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof errors

/** A refusal with its exact answer. Thrown by operations, answered by the error middleware. */
export class DomainError extends Error {
  override name = 'DomainError'
  readonly code: ErrorCode
  constructor(code: ErrorCode) {
    super(errors[code][1])
    this.code = code
  }
}
