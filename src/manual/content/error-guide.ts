import type { ErrorCode } from '../../kernel/errors.js'

interface Guidance {
  readonly cause: string
  /** What the caller does about it. */
  readonly remedy: string
}

const waitShort = 'Repeat after a few seconds, with growing pauses.'
const readRules = 'Read the rule of the field above and send it again.'
const askAgain = 'Repeat after the seconds in `Retry-After`.'
const fromTheStart =
  'Leave `cursor` out to begin with the newest, or give `nextCursor` exactly as it was answered.'

/** Every refusal of the service: why it is answered and what helps. */
export const errorGuide: Readonly<Record<ErrorCode, Guidance>> = {
  invalid_json: {
    cause:
      'The body is not a JSON object, or is larger than 64 KB, or `Content-Type` is not `application/json`.',
    remedy: 'Send an object as `application/json`.',
  },
  unauthorized: {
    cause: 'No open session: the cookie is missing, has ended or was revoked.',
    remedy: 'Log in, and send the cookie; `GET /auth/me` takes the access token too.',
  },
  forbidden: {
    cause: 'A request with a session came from a page of another site.',
    remedy: 'Call from your own site, or from a backend without `Origin`.',
  },
  not_found: {
    cause: 'There is nothing under this path, or the link has expired.',
    remedy: 'Check the path; make a new link.',
  },
  method_not_allowed: {
    cause: 'The path is right, the method is not.',
    remedy: 'The `Allow` header names what is.',
  },
  too_many_requests: { cause: 'The rate limit of this call is used up.', remedy: askAgain },
  invalid_idempotency_key: {
    cause: '`Idempotency-Key` is empty, longer than 255 or has characters that cannot be printed.',
    remedy: 'Send a UUID.',
  },
  request_in_progress: {
    cause: 'The first request with this `Idempotency-Key` is still being worked on.',
    remedy: 'Repeat the same request with the same key in a second.',
  },
  idempotency_key_reused: {
    cause: 'Another request was made with this `Idempotency-Key` in the last 24 hours.',
    remedy: 'Use a new key for each new intention; keep it for repetitions.',
  },
  internal_error: {
    cause: 'A fault of ours.',
    remedy: 'Repeat later; if it stays, tell us the `requestId`.',
  },
  service_unavailable: { cause: 'The database or a provider does not answer now.', remedy: waitShort },

  invalid_registration: {
    cause: 'E-mail, password or name is missing or breaks its rule.',
    remedy: readRules,
  },
  email_in_use: {
    cause: 'There is an account with this e-mail.',
    remedy: 'Log in, by password or one-time code.',
  },
  invalid_login: { cause: 'E-mail or password is missing.', remedy: 'Send both.' },
  invalid_credentials: {
    cause: 'The password is wrong, or nobody has this e-mail: which of them is not told.',
    remedy: 'Ask again, or offer a one-time code.',
  },
  email_required: { cause: 'The e-mail is missing or is none.', remedy: 'Send `email`.' },
  account_not_found: { cause: 'There is no account with this e-mail.', remedy: 'Offer to register.' },
  invalid_code: {
    cause: 'The code is wrong, was used, was replaced by a newer one or is older than 10 minutes.',
    remedy: 'Let the person look again, or start anew for a new code.',
  },
  account_locked: {
    cause: 'Five wrong codes within 15 minutes.',
    remedy: 'Wait 15 minutes, or log in with the password, which is not locked.',
  },

  creator_not_found: {
    cause:
      'Nobody can be tipped under this `creatorId`; at `/sdk/init` also: the API key is somebody else’s.',
    remedy: 'Use the user id, a wallet address or a linked .sol domain.',
  },
  creator_wallet_pending: {
    cause: "The creator's wallet is being made, which takes a second after registration.",
    remedy: waitShort,
  },
  invalid_settings: {
    cause: 'A setting breaks its rule, or the least tip is above the largest.',
    remedy: readRules,
  },
  invalid_name: { cause: 'The name is not 2 to 100 characters.', remedy: readRules },
  invalid_domain: {
    cause: 'It is no domain of the form that is asked for.',
    remedy: 'Give `name.sol`, or `example.com`, `*.example.com`, `example.com:8443`.',
  },
  domain_not_yours: {
    cause: 'The .sol domain does not resolve to your wallet, and the signature is not its owner’s.',
    remedy: 'Have its owner sign the message of `POST /creators/domain-challenge` and send the signature.',
  },
  invalid_label: { cause: 'The label is longer than 100 characters.', remedy: 'Shorten it.' },
  too_many_api_keys: { cause: 'You have 20 open keys.', remedy: 'Revoke one that is not used.' },
  api_key_not_found: { cause: 'You have no open key with this id.', remedy: 'List the keys.' },

  invalid_cursor: { cause: '`cursor` is not one that was handed out.', remedy: fromTheStart },
  invalid_limit: { cause: '`limit` is not a whole number from 1 to 100.', remedy: readRules },
  invalid_format: { cause: '`format` is neither `json` nor `csv`.', remedy: readRules },
  invalid_token: { cause: '`token` is no known symbol and no mint.', remedy: 'See [the tokens](#tokens).' },
  invalid_status: { cause: '`status` is none of the states.', remedy: readRules },
  invalid_from: {
    cause: '`from` is no ISO 8601 date or time.',
    remedy: 'Send `2026-11-01` or `2026-11-01T00:00:00Z`.',
  },
  invalid_to: {
    cause: '`to` is no ISO 8601 date or time.',
    remedy: 'Send `2026-12-01` or `2026-12-01T00:00:00Z`.',
  },
  invalid_q: { cause: '`q` is longer than 100 characters.', remedy: 'Shorten it.' },
  invalid_days: { cause: '`days` is not a whole number from 1 to 366.', remedy: readRules },

  insufficient_balance: {
    cause: 'The amount is above the available balance; what is pending or held does not count.',
    remedy: 'Read `GET /creators/balance` and ask for less.',
  },
  bank_details_required: {
    cause: '`bankCode`, `accountNumber` or `accountName` is missing or breaks its rule.',
    remedy: readRules,
  },
  bank_account_not_found: {
    cause: 'The bank knows no such account.',
    remedy: 'Check bank and number with the holder.',
  },
  payout_refused: {
    cause:
      'The provider refused the payout for good. `error` holds its own words; the money is back in the balance.',
    remedy: 'Mend what the words name, mostly the account, and withdraw again.',
  },
  invalid_reference: {
    cause: '`reference` is longer than 100 characters.',
    remedy: 'Give it as it was answered.',
  },

  intent_fields_required: {
    cause:
      'One of the four is missing. `amount` may be absent when `amountUsd` is given, where a call has it.',
    remedy: 'Send all of them.',
  },
  invalid_input_token_mint: {
    cause: 'The mint is none of the known tokens.',
    remedy: 'See [the tokens](#tokens).',
  },
  invalid_source_wallet: {
    cause: 'The wallet is no base58 address of 32 bytes.',
    remedy: 'Send the public key as the wallet gives it.',
  },
  invalid_amount: {
    cause:
      'The amount is missing, zero, negative, no number, or outside the limits of the service or the creator.',
    remedy:
      'Send a finite positive number inside the limits; of a withdrawal exactly one of the two amounts.',
  },
  amount_below_minimum: {
    cause: 'The SOL that would arrive is less than a new account must hold.',
    remedy: 'Offer a larger amount, or another token.',
  },
  no_price: {
    cause: 'The token has no price, so dollars cannot be converted.',
    remedy: 'Ask by `amount` in place of `amountUsd`.',
  },
  no_route: {
    cause: 'No swap engine turns this token into one the creator takes, for this amount.',
    remedy: 'Offer another token, or another amount.',
  },
  price_unavailable: {
    cause: 'No fresh price, or it has just jumped and waits for a second reading.',
    remedy: 'Repeat after 15 seconds.',
  },
  swap_engines_unavailable: {
    cause: 'The creator takes another token and no swap engine answers.',
    remedy: 'Repeat later, or offer a token the creator accepts.',
  },

  fiat_intent_fields_required: { cause: '`creatorId` or `amount` is missing.', remedy: 'Send both.' },
  intent_id_required: { cause: '`intentId` is missing.', remedy: 'Send the `fiatpay_` id.' },
  rate_unavailable: {
    cause: 'There is no exchange rate that can be trusted now.',
    remedy: 'Repeat after a minute. Nothing was charged or held.',
  },
  payment_refused: {
    cause: 'The payment provider refused to open the payment. `error` holds its own words.',
    remedy: 'Mend what the words name and make a new intent.',
  },

  sdk_init_fields_required: { cause: '`creatorId` or `originUrl` is missing.', remedy: 'Send both.' },
  invalid_api_key: {
    cause: 'The API key is missing, too short, unknown or revoked.',
    remedy: 'Send `Authorization: Bearer <API_KEY>` with an open key.',
  },
  unauthorized_origin: {
    cause: 'The site of `originUrl` is not on the whitelist.',
    remedy: 'Add it with `PUT /creators/domains`; `localhost` and `127.0.0.1` always pass.',
  },
  invalid_session_token: {
    cause: 'The session token is missing, unknown, expired, used up, or over because its tip was confirmed.',
    remedy: 'Have the backend call `POST /sdk/init` for a new one.',
  },
  session_of_another_creator: {
    cause: '`creatorId` is not the session’s creator.',
    remedy: 'Open a session for that creator.',
  },
  payment_intent_not_found: {
    cause: 'There is no such intent, or it is another session’s.',
    remedy: 'Give the id as it was answered.',
  },
  handoff_code_required: { cause: '`code` is missing.', remedy: 'Send it.' },
  invalid_handoff_code: {
    cause: 'The code was used, or is older than a minute.',
    remedy: 'Make a new one with `POST /sdk/handoff`.',
  },
  invalid_account: {
    cause: '`account` is missing or no wallet address.',
    remedy: 'Send the public key of the wallet that pays.',
  },
  creator_id_required: {
    cause: '`creatorId` is missing.',
    remedy: 'Send the user id of the API key’s owner.',
  },
  invalid_since: {
    cause: '`since` is no ISO 8601 time.',
    remedy: 'Send the `timestamp` of the newest event you have.',
  },
  invalid_before: {
    cause: '`before` is no ISO 8601 time.',
    remedy: 'Send the `timestamp` of the oldest event you have.',
  },
  events_failed: { cause: 'A fault of ours.', remedy: 'Repeat with the same `since`: no event is lost.' },

  tip_fields_required: { cause: 'One of the four is missing.', remedy: 'Send all of them.' },
  invalid_creator_wallet: {
    cause: 'The wallet is no base58 address of 32 bytes.',
    remedy: "Send the creator's `walletPublicKey`.",
  },
  invalid_sender_wallet: {
    cause: 'The wallet is no base58 address of 32 bytes.',
    remedy: 'Send the public key of the wallet that paid.',
  },
  invalid_tx_signature: {
    cause: 'The signature is no base58 text of 64 bytes.',
    remedy: 'Send it as the wallet or the RPC node answered.',
  },
  invalid_tip_amount: {
    cause: 'The amount is zero, negative or no number; of SOL also: not whole.',
    remedy: 'Send base units, such as 500000000 for 0.5 SOL.',
  },
  address_required: {
    cause: '`address` is missing.',
    remedy: 'Send a wallet address, a user id or a .sol domain.',
  },
  wallet_required: { cause: '`wallet` is missing.', remedy: "Send the creator's wallet." },
  invalid_wallet: { cause: 'The wallet is no base58 address of 32 bytes.', remedy: 'Send a public key.' },
}

/** What a code means at one call, where that differs from what it means elsewhere. */
export const causesHere: Readonly<Record<string, Readonly<Partial<Record<ErrorCode, string>>>>> = {
  'post /payouts/withdraw': {
    invalid_amount:
      '`amountUSDC` or `amountNGN` is missing, zero or negative, both are given, or too little is left after the fee.',
  },
  'post /sdk/init': {
    creator_not_found: 'No creator matches `creatorId`, or it is not the owner of the API key.',
  },
  'post /payments/fiat/intent': {
    creator_not_found: 'Naira go to registered creators alone, and this is none.',
    invalid_amount:
      'The amount is missing, zero, negative or no number, or the charge is outside the limits in naira.',
  },
  'get /payments/fiat/rate': { invalid_amount: '`amount` is no positive decimal number.' },
  'post /sdk/handoff': {
    invalid_amount: '`amount` is not a positive number, or stands without `inputTokenMint`.',
  },
}
