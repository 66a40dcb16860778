import { type ErrorCode, errors, type FieldProblem } from '../../kernel/errors.js'

const isMissing = 'is missing'
const wallet = 'must be a wallet address: base58 of 32 bytes'
const isoTime = 'must be an ISO 8601 time, such as 2026-11-01T00:00:00Z'

/** Field and problem of a code, where the place that refuses knows nothing more exact. */
const general: Partial<Record<ErrorCode, readonly [field: string, problem: string]>> = {
  invalid_json: ['body', 'must be a JSON object of at most 64 KB'],
  invalid_idempotency_key: ['Idempotency-Key', 'must be 1 to 255 printable ASCII characters'],
  idempotency_key_reused: ['Idempotency-Key', 'was used with another request in the last 24 hours'],

  invalid_registration: ['body', 'must have email, password and name'],
  invalid_login: ['body', 'must have email and password'],
  email_required: ['email', isMissing],
  tip_not_in_naira: ['id', 'is of a tip that was paid on the chain; only naira can be given back'],
  invalid_code: ['code', 'is wrong, used, replaced by a newer one or older than 10 minutes'],
  invalid_passkey: [
    'response',
    'is not the answer of a passkey to options of the last minutes, or was sent before',
  ],
  too_many_passkeys: ['response', 'is of one passkey too many: the account has 20; remove one'],
  link_token_required: ['token', isMissing],
  invalid_link: ['token', 'is wrong, used, or too old'],
  password_required: [
    'body',
    'must have the current password, or `totp` or `passkey` of a factor at least 72 hours old; no recovery code',
  ],
  invalid_password: ['newPassword', 'must have 8 to 256 characters'],
  common_password: [
    'newPassword',
    'is one of the most common passwords, or little more than your name or e-mail',
  ],
  invalid_tip_mails: ['tipMails', 'must be off, each or daily'],
  account_has_money: ['balance', 'is not empty, or something that moves money is under way'],

  invalid_settings: ['settings', 'has a setting that breaks its rule'],
  invalid_name: ['name', 'must have 2 to 100 characters'],
  invalid_domain: [
    'solDomain',
    'must be name.sol, or for a site example.com, *.example.com or example.com:8443',
  ],
  domain_not_yours: ['solDomain', 'does not pay to your wallet, and `signature` is not its owner’s'],
  invalid_handle: ['handle', 'must have 3 to 30 of a-z, 0-9 and _'],
  invalid_page: ['body', 'has a field that breaks its rule'],
  invalid_picture: ['body', 'must be a PNG, JPEG or WebP picture of at most 5 MB'],
  invalid_label: ['label', 'must have at most 100 characters'],
  too_many_api_keys: ['label', 'is of one key too many: you have 20 open keys; revoke one'],
  invalid_webhook_url: ['url', 'must be an https URL of a public server'],
  invalid_description: ['description', 'must have at most 200 characters'],
  invalid_replay: ['replay', 'must be true or false'],
  invalid_state: ['state', 'must be pending, delivered or failed'],
  invalid_redelivery: ['body', 'must have event, or from and to, or failed'],
  invalid_decision: ['decision', 'must be approve, hold or hide'],
  too_many_webhooks: ['url', 'is of one webhook too many: you have 10; delete one'],
  invalid_wallet_signature: [
    'signature',
    'is not of this wallet over the newest message of the challenge, or that is used or older than 10 minutes',
  ],

  invalid_mint: ['mint', 'must be the mint of SOL, USDC, USDT, BONK or JitoSOL'],
  invalid_transaction: ['transaction', 'is not the prepared one, signed by the payout wallet'],
  transfer_would_fail: ['amount', 'cannot be moved: the chain would refuse the transaction'],

  invalid_payment_reference: [
    'reference',
    'must be one line of 1 to 64 characters, without blanks around it',
  ],
  invalid_metadata: [
    'metadata',
    'must be an object of at most 20 texts, numbers or booleans, 2,048 bytes of JSON, with keys of 1 to 40 characters',
  ],
  invalid_after: ['after', 'must be the sequence number of an event'],
  invalid_types: ['types', 'must be event types separated by commas, such as tip.confirmed,withdrawal.*'],
  invalid_wait: ['wait', 'must be whole seconds from 0 to 30'],

  invalid_cursor: ['cursor', 'must be the nextCursor of an earlier answer'],
  invalid_limit: ['limit', 'must be a whole number from 1 to 100'],
  invalid_format: ['format', 'must be json or csv'],
  invalid_token: ['token', 'must be a known symbol or a mint'],
  invalid_status: ['status', 'must be one of the states'],
  invalid_from: ['from', 'must be an ISO 8601 date or time'],
  invalid_to: ['to', 'must be an ISO 8601 date or time'],
  invalid_q: ['q', 'must have at most 100 characters'],
  invalid_time_zone: ['timeZone', 'must be an IANA name such as Africa/Lagos'],
  invalid_sender: ['sender', 'must have at most 100 characters'],
  invalid_year: ['year', 'must be a year from 2020 to 2099'],
  invalid_days: ['days', 'must be a whole number from 1 to 366'],

  insufficient_balance: ['amountUSDC', 'is above the available balance'],
  bank_details_required: ['body', 'must have bankCode, accountNumber and accountName'],
  bank_account_not_found: ['accountNumber', 'is not an account of this bank'],
  invalid_reference: ['reference', 'must have at most 100 characters'],

  intent_fields_required: ['body', 'must have creatorId, amount, inputTokenMint and sourceWalletAddress'],
  invalid_input_token_mint: ['inputTokenMint', 'must be the mint of a known token'],
  invalid_source_wallet: ['sourceWalletAddress', wallet],
  invalid_amount: ['amount', 'must be a finite positive number'],
  amount_below_minimum: ['amount', 'leaves the creator less SOL than a new account must hold'],
  no_route: ['inputTokenMint', 'cannot be swapped, in this amount, into a token that the creator accepts'],
  no_price: ['amountUsd', 'cannot be converted: the token has no price; send `amount`'],

  fiat_intent_fields_required: ['body', 'must have creatorId and amount'],
  intent_id_required: ['intentId', isMissing],

  sdk_init_fields_required: ['body', 'must have creatorId and originUrl'],
  handoff_code_required: ['code', isMissing],
  invalid_handoff_code: ['code', 'is wrong, used, or older than a minute'],
  invalid_account: ['account', wallet],
  creator_id_required: ['creatorId', isMissing],
  invalid_since: ['since', isoTime],
  invalid_before: ['before', isoTime],

  tip_fields_required: ['body', 'must have creatorWallet, tipAmount, senderWallet and txSignature'],
  invalid_creator_wallet: ['creatorWallet', wallet],
  invalid_sender_wallet: ['senderWallet', wallet],
  invalid_tx_signature: ['txSignature', 'must be a transaction signature: base58 of 64 bytes'],
  invalid_tip_amount: [
    'tipAmount',
    'must be a positive whole number of base units; for tokens other than SOL a decimal is taken as display units',
  ],
  address_required: ['address', isMissing],
  wallet_required: ['wallet', isMissing],
  invalid_wallet: ['wallet', wallet],
  invalid_outcome: ['outcome', 'is missing, or none of the listed values'],
  test_refused: ['body', 'asks for what cannot happen now'],
}

/** Wallets call these paths, and show the `message` of an error (Solana Pay, Solana Actions). */
export function isForWallets(path: string): boolean {
  return /^\/(pay|actions)(\/|[.]json$)/i.test(path)
}

/** What a wallet shows of an error: its text, and what is wrong. */
export function messageOf(error: string, details: readonly FieldProblem[]): string {
  const faults = details.map(({ field, problem }) => `${field} ${problem}`).join('; ')
  return faults === '' ? error : `${error}: ${faults}`
}

/** Whether answers with this code have `details`. */
export function hasDetails(code: ErrorCode): boolean {
  if (code === 'account_has_money') return true
  return errors[code][0] === 400 || errors[code][0] === 422
}

/** Codes whose answer has `details` only where the place that refuses knows something exact. */
export function mayHaveDetails(code: ErrorCode): boolean {
  return hasDetails(code) || code === 'invalid_api_key'
}

/** The general description of a code. */
export function generalDetails(code: ErrorCode): FieldProblem {
  const [field, problem] = general[code] ?? ['body', errors[code][1]]
  return { field, problem }
}

/** The general problem of a code, for a field that was given. Undefined for a code that is about several fields. */
export function generalProblem(code: ErrorCode): string | undefined {
  const [field, problem] = general[code] ?? []
  return field === 'body' ? undefined : problem
}
