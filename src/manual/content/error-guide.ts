import type { ErrorCode } from '../../kernel/errors.js'

interface Guidance {
  readonly cause: string
  /** What the caller does about it. */
  readonly remedy: string
}

const retrySoon = 'Repeat after a few seconds, with growing pauses.'
const readRules = 'Read the rule of the field above and send it again.'
const retryAfter = 'Repeat after the seconds in `Retry-After`.'
const newSession = 'Have the backend call `POST /sdk/init` for a new one.'
const restartPaging =
  'Leave `cursor` out to begin with the newest, or give `nextCursor` exactly as it was answered.'

/** The cause and the remedy of every error code. */
export const errorGuide: Readonly<Record<ErrorCode, Guidance>> = {
  invalid_json: {
    cause:
      'The body is not a JSON object, not UTF-8 or larger than 64 KB, or `Content-Type` is not `application/json`.',
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
    cause: 'The path exists, but not with this method.',
    remedy: 'Use a method that the `Allow` header lists.',
  },
  too_many_requests: { cause: 'The rate limit of this call is used up.', remedy: retryAfter },
  invalid_idempotency_key: {
    cause: '`Idempotency-Key` is empty, longer than 255 characters or has characters that cannot be printed.',
    remedy: 'Send a UUID.',
  },
  request_in_progress: {
    cause: 'The first request with this `Idempotency-Key` is still being worked on.',
    remedy: 'Repeat the same request with the same key after the seconds in `Retry-After`.',
  },
  idempotency_key_reused: {
    cause: 'Another request was made with this `Idempotency-Key` in the last 24 hours.',
    remedy: 'Use a new key for each new action, and the same key to repeat it.',
  },
  internal_error: {
    cause: 'An error in the service.',
    remedy: 'Repeat later. If it happens again, give the operator of the service the `requestId`.',
  },
  service_unavailable: {
    cause: 'The database or a provider does not answer now, or we have paused this call.',
    remedy: retrySoon,
  },

  invalid_registration: {
    cause: 'E-mail, password or name is missing or breaks its rule.',
    remedy: readRules,
  },
  email_in_use: {
    cause: 'There is an account with this e-mail, or one had it in the last 72 hours and may take it back.',
    remedy: 'Log in, by password or one-time code.',
  },
  invalid_login: { cause: 'E-mail or password is missing.', remedy: 'Send both.' },
  invalid_credentials: {
    cause: 'The password is wrong, or no account has this e-mail. The answer does not say which.',
    remedy: 'Let the person try again, or offer a one-time code.',
  },
  email_required: { cause: 'The e-mail is missing or invalid.', remedy: 'Send `email`.' },
  account_not_found: { cause: 'There is no account with this e-mail.', remedy: 'Offer to register.' },
  invalid_code: {
    cause: 'The code is wrong, was used, was replaced by a newer one or is older than 10 minutes.',
    remedy: 'Let the person check the code, or send a new one.',
  },
  link_token_required: { cause: '`token` is missing.', remedy: 'Send the token of the mailed link.' },
  invalid_link: {
    cause:
      'The link was used, is void or is too old: 15 minutes to sign in, 30 for a new password, 60 for a new e-mail, 72 hours to undo one or for a file, 7 days for “This was not me”.',
    remedy:
      'Have another one mailed. The links that undo a change and freeze an account come unasked: use a newer mail’s, or set a new password by mail, and write to the operator of the service.',
  },
  email_not_verified: {
    cause:
      'The names of bank accounts are shown to accounts with a verified e-mail only, and only those are mailed about tips.',
    remedy:
      'Verify the e-mail: log in once with a mailed one-time code. A withdrawal itself needs no verified e-mail.',
  },
  account_frozen: {
    cause:
      'The account is frozen: its owner pressed “This was not me” in a mail, or an operator froze it. Tips still arrive.',
    remedy: 'Ask the operator of the service to unfreeze it.',
  },
  invalid_tip_mails: {
    cause: '`tipMails` is none of the choices.',
    remedy: 'Send `off`, `each` or `daily`.',
  },
  reauthentication_required: {
    cause: 'The session is too old for a change of this kind.',
    remedy:
      'Sign in again. Calls that take a factor do with one instead: `totp`, or `passkey` with the answer to `POST /auth/passkeys/confirm/options`.',
  },
  account_has_money: {
    cause:
      'There is a balance or a debt, or a withdrawal, a naira tip, a dispute or a review is under way. `details` say which.',
    remedy: 'Withdraw the balance and wait for the others, then repeat.',
  },
  recently_changed: {
    cause: 'The e-mail or a second factor was changed in the last 72 hours, and the owner may still undo it.',
    remedy: 'Repeat when the 72 hours are over.',
  },
  second_factor_required: {
    cause:
      'The account has a second factor, and the request has none. Removing a factor and making recovery codes need one, however young the session is.',
    remedy:
      'To sign in, send `totp`: a code of the authenticator app or a recovery code; or sign in with a passkey: `POST /auth/passkeys/login/options`. For a change send `totp`, or `passkey` with the answer to `POST /auth/passkeys/confirm/options`; the call says which factors count.',
  },
  password_required: {
    cause: 'The session alone is not enough for this change: a cookie can be stolen.',
    remedy:
      'Send the current password, or a second factor that is at least 72 hours old: `totp` with a code of the authenticator app, not a recovery code, or `passkey`.',
  },
  invalid_password: {
    cause: '`newPassword` is missing, or has fewer than 8 or more than 256 characters.',
    remedy: 'Send another one.',
  },
  common_password: {
    cause:
      '`newPassword` is one of the 100,000 most common ones, or little more than the name, the e-mail or the name of the service.',
    remedy: 'Let the person choose another one: a few words in a row are good.',
  },
  session_not_found: {
    cause: 'No open session of this account has this id.',
    remedy: 'List them: `GET /auth/sessions`.',
  },
  totp_exists: {
    cause: 'The account has an authenticator app already.',
    remedy: 'Remove it first with `DELETE /auth/totp`, or add a passkey beside it.',
  },
  factor_not_found: {
    cause: 'The account has no such second factor: no authenticator app, or no passkey with this id.',
    remedy: 'Read `GET /auth/passkeys`, or set up an authenticator app with `POST /auth/totp`.',
  },
  invalid_passkey: {
    cause:
      'The answer of the passkey does not belong to options made for this in the last minutes, was sent before, is of another site, has no user verification, or its counter went back, as that of a copied key does.',
    remedy: 'Ask for new options and have the passkey answer them, on a page of the service itself.',
  },
  passkey_exists: {
    cause: 'This passkey was added before.',
    remedy: 'Use another authenticator, or remove the passkey first.',
  },
  too_many_passkeys: {
    cause: 'An account has at most 20 passkeys.',
    remedy: 'Remove one with `DELETE /auth/passkeys/{id}`.',
  },
  account_locked: {
    cause: 'Five wrong codes within 15 minutes, mailed ones or those of an authenticator app.',
    remedy:
      'Wait as long as `Retry-After` says. While mailed codes are locked, log in with the password, or call `POST /auth/otp/start`: it mails a link that logs in. While an authenticator app is locked, use a passkey or a recovery code.',
  },

  creator_not_found: {
    cause:
      'No creator matches this `creatorId`, or it is an address nobody can pay from: a program, a mint, a token account. At `/sdk/init` also: the API key belongs to another creator.',
    remedy: 'Use the user id, a wallet address or a linked .sol domain.',
  },
  creator_wallet_pending: {
    cause: "The creator's wallet is still being created, which takes about a second after registration.",
    remedy: retrySoon,
  },
  invalid_settings: {
    cause: 'A setting breaks its rule, or the smallest tip is above the largest.',
    remedy: readRules,
  },
  invalid_name: { cause: 'The name is not 2 to 100 characters.', remedy: readRules },
  invalid_wallet_signature: {
    cause:
      'The signature is not of this wallet over the message of the newest challenge, or that message is used or older than ten minutes.',
    remedy:
      'Get a new message from `POST /creators/payout-wallet/challenge` and have this wallet sign exactly it.',
  },
  payout_wallet_in_use: {
    cause: 'The wallet is the payout wallet of another account.',
    remedy: 'Remove it there, or take another wallet.',
  },
  payout_wallet_required: {
    cause: 'The account has no payout wallet, or another one than a moment ago.',
    remedy: 'Set one with `PUT /creators/payout-wallet`.',
  },
  invalid_mint: {
    cause: 'The mint is not of a token that can be taken out.',
    remedy: 'Send the mint of SOL (wrapped SOL), USDC, USDT, BONK or JitoSOL.',
  },
  invalid_transaction: {
    cause:
      'The transaction is not the prepared one with the signature of the payout wallet. Nothing may be changed but the compute budget, and Lighthouse instructions may be added.',
    remedy: 'Have the payout wallet sign `transfer.transaction` as it is, and send it once more.',
  },
  transfer_not_found: {
    cause: 'There is no take-out with this id in this account.',
    remedy: 'Use the `id` of an answer of `POST /creators/wallet/transfers`.',
  },
  transfer_in_progress: {
    cause: 'A signed take-out of the same token is not at its end.',
    remedy: 'Submit its `transaction`, or wait until it is `final`, `failed` or `expired`.',
  },
  transfer_expired: {
    cause: 'The blockhash of the prepared transaction is too old, or the take-out has ended.',
    remedy: 'Prepare another one.',
  },
  transfer_would_fail: {
    cause:
      'The chain would refuse the transaction. Most often the payout wallet has too little SOL for the fee.',
    remedy: 'Send about 0.005 SOL to the payout wallet.',
  },
  owes_money: {
    cause: 'The account owes money after a dispute or a refund.',
    remedy: 'Wait until later tips have paid it, or ask the operator.',
  },
  step_up_required: {
    cause:
      'The session alone does not suffice for this request. A code was mailed to the address that codes for money go to.',
    remedy:
      'Repeat exactly the same request with `code`, or with `totp` or `passkey` of a second factor older than 72 hours.',
  },
  invalid_domain: {
    cause: 'The domain does not have the required form.',
    remedy: 'Give `name.sol`, or `example.com`, `*.example.com`, `example.com:8443`.',
  },
  domain_not_yours: {
    cause: 'The .sol domain does not resolve to your wallet, and the signature is not its owner’s.',
    remedy: 'Have its owner sign the message of `POST /creators/domain-challenge` and send the signature.',
  },
  invalid_label: { cause: 'The label is longer than 100 characters.', remedy: 'Shorten it.' },
  too_many_api_keys: { cause: 'You have 20 open keys.', remedy: 'Revoke one that is not used.' },
  api_key_not_found: { cause: 'You have no open key with this id.', remedy: 'List the keys.' },

  invalid_cursor: { cause: '`cursor` is not a `nextCursor` of an earlier answer.', remedy: restartPaging },
  invalid_limit: { cause: '`limit` is not a whole number from 1 to 100.', remedy: readRules },
  invalid_format: { cause: '`format` is neither `json` nor `csv`.', remedy: readRules },
  invalid_token: {
    cause: '`token` is neither a known symbol nor a mint.',
    remedy: 'See [the tokens](#tokens).',
  },
  invalid_status: { cause: '`status` is not one of the states.', remedy: readRules },
  invalid_from: {
    cause: '`from` is not an ISO 8601 date or time.',
    remedy: 'Send `2026-11-01` or `2026-11-01T00:00:00Z`.',
  },
  invalid_to: {
    cause: '`to` is not an ISO 8601 date or time.',
    remedy: 'Send `2026-12-01` or `2026-12-01T00:00:00Z`.',
  },
  invalid_q: { cause: '`q` is longer than 100 characters.', remedy: 'Shorten it.' },
  invalid_time_zone: {
    cause: '`timeZone` is not an IANA name such as `Africa/Lagos`.',
    remedy: readRules,
  },
  invalid_days: { cause: '`days` is not a whole number from 1 to 366.', remedy: readRules },

  insufficient_balance: {
    cause: 'The amount is above the available balance. Pending and held money does not count.',
    remedy: 'Read `GET /creators/balance` and ask for less.',
  },
  bank_details_required: {
    cause:
      '`bankCode`, `accountNumber` or `accountName` is missing or breaks its rule, or `bankAccountOf` is not alone or not the reference of an own withdrawal.',
    remedy: readRules,
  },
  bank_account_not_found: {
    cause: 'The bank knows no such account.',
    remedy: 'Check bank and number with the holder.',
  },
  payout_refused: {
    cause:
      'The provider refused the payout permanently. `error` is the provider’s own text. The money is back in the balance.',
    remedy: 'Correct what the text names, usually the bank account, and withdraw again.',
  },
  invalid_reference: {
    cause: '`reference` is longer than 100 characters.',
    remedy: 'Send it exactly as it was answered.',
  },
  withdrawal_not_found: {
    cause: 'The account has no withdrawal with this reference.',
    remedy: 'Send the `reference` of the answer or of the history.',
  },
  withdrawal_sent: {
    cause: 'The withdrawal is on its way to the bank, or may be.',
    remedy: 'Follow it in the history. It cannot be called back.',
  },
  payee_not_found: {
    cause: 'The account has no such payee, or it was removed.',
    remedy: 'Read `GET /creators/payees` again.',
  },

  intent_fields_required: {
    cause:
      'One of the four is missing. `amount` may be absent when `amountUsd` is given, where a call has it.',
    remedy: 'Send all of them.',
  },
  invalid_input_token_mint: {
    cause: 'The mint is not one of the known tokens.',
    remedy: 'See [the tokens](#tokens).',
  },
  invalid_source_wallet: {
    cause: 'The wallet is not a base58 address of 32 bytes.',
    remedy: 'Send the public key as the wallet gives it.',
  },
  invalid_amount: {
    cause:
      'The amount is missing, zero, negative, not a number, or outside the limits of the service or the creator.',
    remedy:
      'Send a finite positive number inside the limits. For a withdrawal, send exactly one of the two amounts.',
  },
  amount_below_minimum: {
    cause: 'The creator would receive less SOL than a new account must hold.',
    remedy: 'Offer a larger amount, or another token.',
  },
  no_price: {
    cause: 'The token has no price, so dollars cannot be converted.',
    remedy: 'Send `amount` instead of `amountUsd`.',
  },
  no_route: {
    cause: 'No swap engine can swap this amount into a token that the creator accepts.',
    remedy: 'Offer another token, or another amount.',
  },
  price_unavailable: {
    cause: 'There is no recent price, or the price changed sharply and has not been confirmed yet.',
    remedy: 'Repeat after 15 seconds.',
  },
  swap_engines_unavailable: {
    cause: 'The creator accepts another token and no swap engine answers.',
    remedy: 'Repeat later, or offer a token the creator accepts.',
  },

  fiat_intent_fields_required: { cause: '`creatorId` or `amount` is missing.', remedy: 'Send both.' },
  intent_id_required: { cause: '`intentId` is missing.', remedy: 'Send the `fiatpay_` id.' },
  tip_not_found: {
    cause: 'The account has received no tip with this id.',
    remedy:
      'Send the `signature` of a naira tip as `GET /creators/tips` lists it: `fiatpay_` and 32 hex digits.',
  },
  tip_not_in_naira: {
    cause: 'The tip was paid from a wallet on the chain. The service cannot send it back.',
    remedy: 'Send tokens to the wallet of the supporter yourself.',
  },
  tip_not_paid: {
    cause: 'The naira tip is unpaid, cancelled or failed: nothing was credited.',
    remedy: 'Nothing. What the payer paid too little or too late is given back by the operator.',
  },
  tip_disputed: {
    cause: 'The payer of the tip disputes the payment at their bank, which has not decided.',
    remedy: 'Reply to the mail about the dispute: the operator can accept it.',
  },
  tip_refunded: {
    cause: 'All of the tip was given back, or is on its way back.',
    remedy: 'See `GET /creators/tips/{id}/refunds`.',
  },
  refund_too_late: {
    cause: 'The tip was paid more than 30 days ago, or as many as the operator has set.',
    remedy: 'Nothing. Its payer can ask the operator.',
  },
  too_many_refunds: {
    cause: 'The tip was given back in 20 parts already.',
    remedy: 'Leave `amountUSD` out to give back all that is left.',
  },
  rate_unavailable: {
    cause: 'There is no reliable exchange rate now.',
    remedy: 'Repeat after a minute. Nothing was charged or held.',
  },
  payment_refused: {
    cause: 'The payment provider refused to open the payment. `error` is the provider’s own text.',
    remedy: 'Correct what the text names and make a new intent.',
  },

  sdk_init_fields_required: { cause: '`creatorId` or `originUrl` is missing.', remedy: 'Send both.' },
  invalid_api_key: {
    cause: 'The API key is missing, too short, unknown or revoked.',
    remedy: 'Send `Authorization: Bearer <API_KEY>` with an open key.',
  },
  unauthorized_origin: {
    cause: 'The site of `originUrl` is not on the whitelist.',
    remedy: 'Add it with `PUT /creators/domains`; `localhost` and `127.0.0.1` are always allowed.',
  },
  invalid_session_token: {
    cause: 'There is no session token in the request.',
    remedy: 'Send `Authorization: Bearer sdk_sess_...`.',
  },
  session_unknown: {
    cause: 'There is no session with this token, or it was deleted a day after it expired.',
    remedy: newSession,
  },
  session_expired: { cause: 'The session token is older than 15 minutes.', remedy: newSession },
  session_consumed: { cause: 'A tip of this session was confirmed, which ends it.', remedy: newSession },
  session_exhausted: { cause: 'The session has made all its intents.', remedy: newSession },
  session_unpaid: {
    cause: 'No tip of this session was confirmed. Until it expires it can still be used.',
    remedy: 'Renew a session after its tip was confirmed; otherwise open a new one with `POST /sdk/init`.',
  },
  session_of_another_creator: {
    cause: '`creatorId` is not the session’s creator.',
    remedy: 'Open a session for that creator.',
  },
  payment_intent_not_found: {
    cause: 'There is no such intent, or it belongs to another session.',
    remedy: 'Give the id as it was answered.',
  },
  handoff_code_required: { cause: '`code` is missing.', remedy: 'Send it.' },
  invalid_handoff_code: {
    cause: 'The code was used, or is older than a minute.',
    remedy: 'Make a new one with `POST /sdk/handoff`.',
  },
  invalid_account: {
    cause: '`account` is missing or is not a wallet address.',
    remedy: 'Send the public key of the wallet that pays.',
  },
  creator_id_required: {
    cause: '`creatorId` is missing.',
    remedy: 'Send the user id of the API key’s owner.',
  },
  invalid_since: {
    cause: '`since` is not an ISO 8601 time.',
    remedy: 'Send the `timestamp` of the newest event you have.',
  },
  invalid_before: {
    cause: '`before` is not an ISO 8601 time.',
    remedy: 'Send the `timestamp` of the oldest event you have.',
  },
  events_failed: {
    cause: 'An error in the service.',
    remedy: 'Repeat with the same `since`: no event is lost.',
  },

  tip_fields_required: { cause: 'One of the four is missing.', remedy: 'Send all of them.' },
  invalid_creator_wallet: {
    cause: 'The wallet is not a base58 address of 32 bytes.',
    remedy: "Send the creator's `walletPublicKey`.",
  },
  invalid_sender_wallet: {
    cause: 'The wallet is not a base58 address of 32 bytes.',
    remedy: 'Send the public key of the wallet that paid.',
  },
  invalid_tx_signature: {
    cause: 'The signature is not a base58 text of 64 bytes.',
    remedy: 'Send it as the wallet or the RPC node answered.',
  },
  invalid_tip_amount: {
    cause: 'The amount is zero, negative or not a number; for SOL also: not a whole number.',
    remedy: 'Send base units, such as 500000000 for 0.5 SOL.',
  },
  address_required: {
    cause: '`address` is missing.',
    remedy: 'Send a wallet address, a user id or a .sol domain.',
  },
  wallet_required: { cause: '`wallet` is missing.', remedy: "Send the creator's wallet." },
  invalid_wallet: { cause: 'The wallet is not a base58 address of 32 bytes.', remedy: 'Send a public key.' },
}

/** Causes that differ for one call. */
export const causesByCall: Readonly<Record<string, Readonly<Partial<Record<ErrorCode, string>>>>> = {
  'post /payouts/withdraw': {
    invalid_amount:
      '`amountUSDC` or `amountNGN` is missing, zero or negative, both are given, or too little is left after the fee.',
    too_many_requests:
      'The rate limit of this call is used up, or the withdrawal would wait for a code and ten were mailed in 24 hours. Nothing was held.',
  },
  'post /payouts/{reference}/confirm': {
    invalid_code:
      'The code is wrong, older than 10 minutes, replaced by a newer one or void after five wrong ones; or the second factor is wrong or a recovery code or younger than 72 hours; or the withdrawal waits for no confirmation.',
  },
  'post /payouts/{reference}/confirm/resend': {
    too_many_requests: 'Five codes were asked for in 15 minutes, or ten mailed in 24 hours.',
  },
  'post /sdk/init': {
    creator_not_found: 'No creator matches `creatorId`, or it is not the owner of the API key.',
  },
  'post /payments/fiat/intent': {
    creator_not_found: 'Only registered creators can receive naira, and no such creator matches `creatorId`.',
    invalid_amount:
      'The amount is missing, zero, negative or not a number, or the charge is outside the limits in naira.',
  },
  'get /payments/fiat/rate': { invalid_amount: '`amount` is not a positive decimal number.' },
  'post /sdk/handoff': {
    invalid_amount: '`amount` is not a positive number, or was sent without `inputTokenMint`.',
  },
}
