/** Every refusal the service may answer: code -> [HTTP status, exact text]. The texts are part of the API. */
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
  email_required: [400, 'Email required'],
  account_not_found: [404, 'Account not found'],
  invalid_code: [400, 'Invalid or expired code'],
  link_token_required: [400, 'token is required'],
  invalid_link: [400, 'Invalid or expired link'],
  email_not_verified: [403, 'E-mail not verified'],
  account_frozen: [403, 'Account frozen'],
  invalid_tip_mails: [400, 'Invalid tipMails'],
  reauthentication_required: [401, 'Reauthentication required'],
  second_factor_required: [401, 'Second factor required'],
  step_up_required: [401, 'Confirmation required'],
  password_required: [400, 'Current password or code required'],
  invalid_password: [400, 'Password must be 8-256 characters'],
  common_password: [400, 'Password is too common'],
  session_not_found: [404, 'Session not found'],
  totp_exists: [409, 'Authenticator app already set up'],
  factor_not_found: [404, 'Second factor not found'],
  invalid_passkey: [400, 'Invalid or expired passkey'],
  passkey_exists: [409, 'Passkey already added'],
  too_many_passkeys: [400, 'Too many passkeys'],
  account_has_money: [409, 'Account still holds money'],
  recently_changed: [409, 'E-mail or second factor changed in the last 72 hours'],
  account_locked: [429, 'Too many failed attempts. Account locked for 15 minutes.'],

  creator_not_found: [404, 'Creator not found'],
  creator_wallet_pending: [409, 'Creator wallet is being provisioned'],
  invalid_settings: [400, 'Invalid settings'],
  invalid_name: [400, 'Invalid name'],
  invalid_domain: [400, 'Invalid domain'],
  invalid_handle: [400, 'Invalid handle'],
  invalid_page: [400, 'Invalid page'],
  invalid_picture: [400, 'Invalid picture'],
  page_not_found: [404, 'Page not found'],
  domain_not_yours: [400, 'Domain does not resolve to your wallet'],
  invalid_payment_reference: [400, 'Invalid reference'],
  invalid_metadata: [400, 'Invalid metadata'],
  invalid_after: [400, 'Invalid after'],
  invalid_types: [400, 'Invalid types'],
  invalid_wait: [400, 'Invalid wait'],
  invalid_label: [400, 'Invalid label'],
  too_many_api_keys: [400, 'Too many API keys'],
  api_key_not_found: [404, 'API key not found'],
  invalid_webhook_url: [400, 'Invalid webhook url'],
  invalid_description: [400, 'Invalid description'],
  invalid_replay: [400, 'Invalid replay'],
  invalid_state: [400, 'Invalid state'],
  invalid_redelivery: [400, 'Invalid redelivery'],
  invalid_decision: [400, 'Invalid decision'],
  too_many_webhooks: [400, 'Too many webhooks'],
  webhook_not_found: [404, 'Webhook not found'],
  webhook_disabled: [409, 'Webhook disabled'],
  event_not_found: [404, 'Event not found'],
  invalid_wallet_signature: [400, 'Invalid or expired wallet signature'],
  payout_wallet_in_use: [409, 'Payout wallet of another creator'],
  payout_wallet_required: [409, 'Payout wallet required'],
  invalid_mint: [400, 'Invalid mint'],
  invalid_transaction: [400, 'Invalid transaction'],
  transfer_not_found: [404, 'Transfer not found'],
  transfer_in_progress: [409, 'Transfer in progress'],
  transfer_expired: [409, 'Transfer expired'],
  transfer_would_fail: [422, 'Transfer would fail'],
  owes_money: [409, 'Account owes money'],

  invalid_cursor: [400, 'Invalid cursor'],
  invalid_limit: [400, 'Invalid limit'],
  invalid_format: [400, 'Invalid format'],
  invalid_token: [400, 'Invalid token'],
  invalid_status: [400, 'Invalid status'],
  invalid_from: [400, 'Invalid from'],
  invalid_to: [400, 'Invalid to'],
  invalid_q: [400, 'Invalid q'],
  invalid_sender: [400, 'Invalid sender'],
  invalid_days: [400, 'Invalid days'],
  invalid_year: [400, 'Invalid year'],
  invalid_time_zone: [400, 'Invalid time zone'],

  insufficient_balance: [400, 'Insufficient Balance'],
  bank_details_required: [400, 'Bank details required'],
  bank_account_not_found: [422, 'Bank account could not be resolved'],
  payout_refused: [502, 'The payout provider refused the payout'],
  invalid_reference: [400, 'Invalid reference'],
  withdrawal_not_found: [404, 'Withdrawal not found'],
  withdrawal_sent: [409, 'Withdrawal already sent'],
  payee_not_found: [404, 'Payee not found'],

  intent_fields_required: [400, 'creatorId, amount, inputTokenMint and sourceWalletAddress are required'],
  invalid_input_token_mint: [400, 'Invalid inputTokenMint'],
  invalid_source_wallet: [400, 'Invalid sourceWalletAddress'],
  invalid_amount: [400, 'Invalid amount'],
  amount_below_minimum: [422, 'Amount below the network minimum'],
  no_route: [422, 'No route for this token'],
  no_price: [422, 'No price for this token'],
  price_unavailable: [503, 'Price unavailable'],
  swap_engines_unavailable: [503, 'Swap engines unavailable'],

  fiat_intent_fields_required: [400, 'creatorId and amount are required'],
  intent_id_required: [400, 'intentId is required'],
  tip_not_found: [404, 'Tip not found'],
  tip_not_in_naira: [400, 'Only naira tips can be refunded'],
  tip_not_paid: [409, 'Tip is not paid'],
  tip_disputed: [409, 'Tip is disputed'],
  tip_refunded: [409, 'Tip already refunded'],
  short_decided: [409, 'Nothing of this tip waits for a decision'],
  too_many_refunds: [409, 'Too many refunds of this tip'],
  refund_too_late: [409, 'Tip is too old to be refunded'],
  rate_unavailable: [503, 'Rate unavailable'],
  payment_refused: [502, 'The payment provider refused the payment'],

  sdk_init_fields_required: [400, 'creatorId and originUrl are required'],
  invalid_api_key: [401, 'Missing or invalid API key'],
  unauthorized_origin: [403, 'Unauthorized Origin'],
  invalid_session_token: [401, 'Missing or invalid session token'],
  session_unknown: [401, 'Missing or invalid session token'],
  session_expired: [401, 'Missing or invalid session token'],
  session_consumed: [401, 'Missing or invalid session token'],
  session_exhausted: [401, 'Missing or invalid session token'],
  session_unpaid: [409, 'Session has no confirmed tip'],
  session_of_another_creator: [403, 'Session belongs to another creator'],
  payment_intent_not_found: [404, 'Payment intent not found'],
  handoff_code_required: [400, 'code is required'],
  invalid_handoff_code: [400, 'Invalid or expired code'],
  invalid_account: [400, 'Invalid account'],
  creator_id_required: [400, 'creatorId is required'],
  invalid_since: [400, 'since must be an ISO 8601 datetime'],
  invalid_before: [400, 'before must be an ISO 8601 datetime'],
  events_failed: [500, 'Failed to fetch verified events'],

  tip_fields_required: [400, 'creatorWallet, tipAmount, senderWallet and txSignature are required'],
  invalid_creator_wallet: [400, 'Invalid creatorWallet'],
  invalid_sender_wallet: [400, 'Invalid senderWallet'],
  invalid_tx_signature: [400, 'Invalid txSignature'],
  invalid_tip_amount: [400, 'Invalid tipAmount'],
  address_required: [400, 'address is required'],
  wallet_required: [400, 'wallet is required'],
  invalid_wallet: [400, 'Invalid wallet'],

  invalid_outcome: [400, 'Invalid outcome'],
  test_refused: [422, 'This cannot happen now'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof errors

/** Codes whose answer may carry the provider's own text instead of ours. */
export const codesWithProviderText: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'payment_refused',
  'payout_refused',
])

/** A fault of a request. `field`: the name in the body, the query or the header; `body` when that could not be read. */
export interface FieldProblem {
  readonly field: string
  readonly problem: string
}

/** A refusal with its exact answer. Operations throw it; the error middleware answers it. */
export class DomainError extends Error {
  override name = 'DomainError'
  readonly code: ErrorCode
  /** What is wrong, for a code with details: a status of 400 or 422, and a few others. Empty: the general description of the code (error-details.ts). */
  readonly details: readonly FieldProblem[]
  /** For a status of 429 or 503: seconds after which the request may succeed, if they are known. */
  retryAfter: number | undefined
  /** `text`: the provider's text, for a code of `codesWithProviderText`. */
  constructor(code: ErrorCode, text: string = errors[code][1], details: readonly FieldProblem[] = []) {
    super(text)
    this.code = code
    this.details = details
  }
}

/** A refusal that says when the request may succeed. */
export function refusedFor(code: ErrorCode, seconds: number): DomainError {
  const error = new DomainError(code)
  error.retryAfter = seconds
  return error
}

/** A refusal that names the fault of one field. */
export function inputError(code: ErrorCode, field: string, problem: string): DomainError {
  return new DomainError(code, undefined, [{ field, problem }])
}
