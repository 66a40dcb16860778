import type { InlineMarkdown } from '../blocks.js'

/** Notes about a call beyond its fields. */
export const callNotes: Readonly<Record<string, readonly InlineMarkdown[]>> = {
  'post /auth/register': [
    'Also logs in: the answer sets the session cookie and contains an access token. The wallet is created within a second.',
    'When the e-mail is first proven from another network than this one, password, sessions and API keys made before are void: somebody else may have registered it.',
  ],
  'post /auth/login': [
    'Starts a new session and ends the one that the request was sent with.',
    'An account with a second factor also needs `totp`: a code of the authenticator app, or a recovery code. Without it the answer is 401 `second_factor_required`. Or log in with a passkey: [POST /auth/passkeys/login/options](#post-auth-passkeys-login-options).',
    'Five wrong codes of the app within 15 minutes lock it for 15 minutes; recovery codes and passkeys keep working.',
  ],
  'post /auth/otp/start': [
    'The code has six digits, works once and is valid for 10 minutes. A new code replaces it.',
    'While codes are locked the answer is 429 with the lockout text, and the e-mail has a link instead of a code: its page logs in with [POST /auth/otp/link](#post-auth-otp-link). At most one link is mailed per 15 minutes.',
  ],
  'post /auth/otp/verify': [
    'Five wrong codes within 15 minutes lock one-time codes for 15 minutes. The password keeps working.',
    'An account with a second factor also needs `totp`. Without the right one the mailed code is not used up.',
    'If the e-mail was never proven and the factor is somebody else’s, `notMine: true` signs in without it: password, sessions, API keys and second factors of before are void, and a mail says so.',
  ],
  'post /auth/otp/link': [
    'The lock of one-time codes does not stop it. Send the token when a person presses a button: mail scanners open links.',
    'An account with a second factor also needs `totp`. Without the right one the link is not used up. `notMine` as in [POST /auth/otp/verify](#post-auth-otp-verify).',
  ],
  'post /auth/totp': [
    'Needs a session younger than 15 minutes, or a factor that the account has. Show `uri` as a QR code, then send the first code of the app to [POST /auth/totp/confirm](#post-auth-totp-confirm) within 15 minutes. A new secret replaces one that was not confirmed.',
  ],
  'post /auth/totp/confirm': [
    'From now on logging in needs the second factor. The owner gets a mail. A factor younger than 72 hours confirms no withdrawal.',
  ],
  'delete /auth/totp': [
    'Takes a code of the app, a recovery code or a passkey, in the body. A factor removes itself and every factor that is not older than it; one older than 72 hours removes any. With the last factor the recovery codes go.',
  ],
  'post /auth/recovery-codes': [
    'Needs the oldest factor of the account, one older than 72 hours, or a recovery code. The earlier codes do not work any more.',
  ],
  'post /auth/passkeys/options': [
    'Needs a session younger than 15 minutes, or a factor that the account has. Give `options` to `PublicKeyCredential.parseCreationOptionsFromJSON` and `navigator.credentials.create`, or to `startRegistration` of `@simplewebauthn/browser`, within five minutes, on a page of the service.',
  ],
  'post /auth/passkeys': [
    'At most 20. From now on logging in needs a factor. The owner gets a mail. A factor younger than 72 hours confirms no withdrawal.',
  ],
  'delete /auth/passkeys/{id}': [
    'Takes a factor in the body: the passkey itself or one that is not younger, a factor older than 72 hours, or a recovery code. A young session is not enough: it may be a stolen one.',
  ],
  'post /auth/passkeys/confirm/options': [
    'For the `passkey` field of other calls: give `options` to `PublicKeyCredential.parseRequestOptionsFromJSON` and `navigator.credentials.get`, and send the credential’s `toJSON()`. Each is answered once, within five minutes.',
  ],
  'post /auth/passkeys/login/options': [
    'The browser shows the passkeys that it has for the service. Give `options` to `navigator.credentials.get` as for a confirmation.',
  ],
  'post /auth/passkeys/login': [
    'A passkey is the device and its user’s PIN or finger: no other factor is asked.',
  ],
  'post /auth/password': [
    'Every session ends, and the answer sets a new cookie. An account without a password sends `newPassword` alone within 15 minutes after a mailed code signed it in. The owner gets a mail.',
    'In place of the password counts a second factor that is at least 72 hours old, no recovery code: `totp`, or `passkey`.',
  ],
  'post /auth/password/reset': [
    'Answers the same, after the same time, whether there is an account or not. The link is valid for 30 minutes; another is mailed after a minute.',
  ],
  'post /auth/password/reset/confirm': [
    'Works once. It signs nobody in, ends every session, and leaves second factors as they are. It proves the e-mail, unless it never was and the account has a second factor that stays. Send the token when a person presses a button: mail scanners open links.',
  ],
  'post /auth/email': [
    'The address changes when the link mailed to it is used, within 60 minutes. With a second factor on it needs `totp` (also a recovery code) or `passkey` beside the password; a factor at least 72 hours old needs no password. The address of now gets a mail. An address that an account had in the last 72 hours is in use.',
  ],
  'post /auth/email/confirm': [
    'The old address gets a link that undoes the change for 72 hours; meanwhile withdrawals are confirmed from there.',
  ],
  'post /auth/email/undo': [
    'Also undoes later changes. Every session, the password, and the API keys and second factors made since are void; the restored address gets a link for a new password.',
  ],
  'get /auth/sessions': ['`network` is an IPv4 address or an IPv6 /64. At most 200.'],
  'delete /auth/sessions': [
    'Needs a session younger than 15 minutes, or a factor that the account has, in the body. A change of e-mail that waits for its link is void. Works while the account is frozen.',
  ],
  'delete /auth/sessions/{id}': [
    'Needs a session younger than 15 minutes, or a factor that the account has, in the body. Not for the session that the request was sent with: that is a log-out. Works while the account is frozen.',
  ],
  'get /auth/export': [
    'The first call requests the file, later ones say how it stands; a new file at most once a day. The link goes to the e-mail address of the account or, within 72 hours of a change, to the address before it, and is good for 72 hours. Of tips, transactions and withdrawals the file has the newest 20,000 each.',
  ],
  'post /auth/export/download': [
    'Answers a file for the person, as an attachment. Send the token when a person presses a button: mail scanners open links.',
  ],
  'delete /auth/me': [
    'Needs a session of the last 15 minutes and, in the JSON body, the password; with a second factor on, `totp` or `passkey` too, or alone if the factor is at least 72 hours old. Who the account was is deleted; ledger, tips and withdrawals stay without a name. The address can register again. Tips that arrive later are credited to the closed account: ask the operator of the service for them.',
    'Tokens besides USDC stay in the wallet. While there are some the call is refused, unless `leaveTokens` is true. A password alone does not leave them: it takes a second factor, or, without a password, a session that a mailed code opened; else ask the operator.',
  ],
  'get /auth/me': ['Accepts the session cookie or the access token.'],
  'post /auth/not-me': [
    'Ends every session, and refuses withdrawals and changes until an operator unfreezes the account. Tips still arrive. A link is valid for 7 days. Send the token when a person presses a button: mail scanners open links.',
  ],
  'post /auth/withdrawals/confirm': [
    'The link of the mail works as long as its withdrawal waits for the confirmation; a repetition answers the same. Send the token when a person presses a button: mail scanners open links.',
  ],
  'put /auth/tip-mails': [
    '`each`: a mail for each confirmed tip, at most one in ten minutes, which then lists several. `daily`: one mail at 08:00 in Lagos. Tips confirmed before the choice are not mailed.',
  ],
  'patch /creators/me': [
    'Settings are merged key by key: an absent or null setting keeps its value. Only the two limits are different: null removes them. A .sol domain is linked when it resolves to your wallet, or with its owner’s signature.',
    'A change of `tipsTo` needs a step-up: without one the answer is 401 `step_up_required` and a code is mailed; repeat the same request with `code`. The first time it needs a payout wallet.',
  ],
  'post /creators/api-keys': ['The key acts for you: keep it on a server. At most 20 open keys.'],
  'post /sdk/init': [
    'For a backend. Open a new session for every embed; it lives 15 minutes, makes 5 intents and ends with its first confirmed tip.',
  ],
  'post /sdk/tip': [
    'Has the same answer as [POST /payments/intent](#post-payments-intent), so a page can have the transaction signed right away.',
  ],
  'get /sdk/intents/{intentId}': [
    'Works until 60 minutes after the session ended. Poll after 1, 1, 2, 3, then every 5 seconds.',
  ],
  'get /sdk/intents': [
    'Every crypto intent of the session, and every naira intent that was made with its token, newest first.',
  ],
  'get /sdk/session': ['Works until 60 minutes after the session ended.'],
  'post /sdk/session/renew': [
    'For a checkout that is opened by itself, where no page of yours can open a session for “Tip again”. Works once the session’s tip is confirmed, until 60 minutes after the session ended, while the site is in the whitelist. Embedding pages get `tip.expired` instead.',
  ],
  'get /sdk/events': [
    'At most 50, newest first. Send the `timestamp` of the newest event you have processed as `since`, and none is skipped. If there are more, `hasMore` is true: page back with `before`. Poll every 30 to 60 seconds.',
    'A naira tip is an event, too: `tokenSymbol` is `FIAT`, `amountRaw` is in US cents, `eventId` is its `fiatpay_` id.',
  ],
  'post /payments/intent': [
    'The transaction is unsigned. Deserialize it, let the wallet sign it, submit it yourself before `lastValidBlockHeight` passes, then [record it](#post-chain-tips-create). The service never submits anything.',
    'A direct transfer or v6 swap that nobody records is found on the chain from 30 seconds after the intent. The transfer to the creator is the last instruction of a direct transfer, with a reference key, so `findReference` and `validateTransfer` of Solana Pay read it.',
    'A transfer that creates the creator’s token account, as the first one in a token may, has no balance before it: `validateTransfer` then fails with "missing balance data". Read the tip from [`GET /sdk/events`](#get-sdk-events) or [`GET /chain/tips`](#get-chain-tips) instead, or open the account beforehand: anyone may pay for it.',
  ],
  'post /chain/tips/create': [
    'A `txSignature` is recorded once; a repetition answers the recorded tip with only its id and status. The values you send are a claim: the service credits what it finds on the chain. A tip whose transaction failed stays `pending`.',
    'A `message` sent with the intent is the tip’s and needs no report. Otherwise the first report that names the `intentId` decides the message, within 24 hours; one without it counts only within ten minutes of the payment, while the tip has none.',
  ],
  'get /chain/tips': [
    'Confirmed crypto tips, and naira tips in every state, that the address received or sent. Unpaid naira tips take at most ten of the fifty places from paid tips.',
  ],
  'get /creators/tips': [
    'A search with `q` reads the newest 10,000 tips that the other filters let through. When older ones were left out, `searchedSince` is the time of the oldest one searched: send it as `to` to search on.',
    'A tip stays what it was when its payment is disputed or goes back: `disputed` and `refundedAmount` say so, and the balance shows what is held or debited.',
  ],
  'post /creators/tips/{id}/refund': [
    '`amountUSD` is in terms of the tip’s `amount`: of a tip of 10 USD that credited 9.50, 5 debits 4.75, or what its naira cost now if that is more. The money is taken from what is pending of the tip, then from what is available. The payer gets the same share of the naira that they paid, on the way on which they paid; parts can be given back until nothing is left. The service gives up its own fee of that part.',
    'Needs a step-up: the first request is answered 401 `step_up_required` and a code is mailed; repeat it with `code`, or send a second factor. An installation can ask for it only of accounts with a second factor.',
    'A tip can be given back for 30 days after its payment, and not in the 72 hours after a change of the e-mail or a second factor.',
    'The money is held first, then sent once. `pending` means that it is sent as soon as it can be, or that the provider is working on it, which can take days: repeat the request only with the same `Idempotency-Key`. When it fails, the money is in the balance again.',
    'The tip keeps its `amount` and its `status`, and shows `refundedAmount`. Events and streams are not sent again.',
  ],
  'get /creators/tips/{id}/refunds': [
    'A refund goes from `pending` to `paid` or `failed`. With `paid` the provider has sent the money; the payer’s bank may need some days.',
  ],
  'get /chain/tips/stream': [
    'Begins with `retry: 10000` and the connection event. Then it sends a comment every 15 seconds as a heartbeat, and one event for each tip when it is confirmed. Every event has an `id:`, the connection event too. Reconnect with the last one as `Last-Event-ID`, and no tip is missed.',
    'A browser’s `EventSource` gives up after an answer that is not 200. `streamTips` of the client reconnects.',
  ],
  'post /payments/fiat/intent': [
    'Send the payer to `checkoutUrl`, or show `paymentInstructions`. The intent is open for 30 minutes; money that comes later still counts.',
    'The charge is `amount` minus the 5 % fee, in naira. `amountNgn` sets another charge.',
    'Needs no credential. With a session token of this creator the tip belongs to that session: it is one of its five intents, is listed in [GET /sdk/intents](#get-sdk-intents), and ends the session when it is paid. Any other token is ignored.',
  ],
  'get /payments/fiat/status': [
    'Poll every 5 to 10 seconds and stop at `completed`. Every answer carries `Cache-Control: no-store`.',
  ],
  'post /payouts/withdraw': [
    'Send an `Idempotency-Key` with every withdrawal: when the answer is lost, the same request with the same key answers what happened, and withdraws nothing more.',
    'The money is held first, then sent once. `pending` means that it will be sent or is being sent: repeat the request only with the same `Idempotency-Key`. Follow it by `reference` in [the history](#get-payouts-history).',
    'Large withdrawals wait until the creator’s identity is verified: `requiresVerification` is then true, and an e-mail says what to do.',
    'A withdrawal to another bank account than before, within three days of a change of the e-mail or a second factor, or from a device and a network that are both new, is `pending` with `heldFor: "confirmation"`: a mail has a link, whose page confirms it without signing in, and a code, with which `POST /payouts/{reference}/confirm` sends it. Under `GUARDS=recommended` the first bank account needs one too while the session or the device is younger than a day or another withdrawal is on its way; under `contract` none is asked for unless the owner has set up a second factor.',
    '`heldFor: "breaker"`: the service sends no more for now. Nothing is to be done: it goes out by itself, with the naira that were promised, and can be cancelled until then.',
    'While a payer disputes a tip, what it credited is held. A withdrawal that is not sent yet is `heldFor: "dispute"` while the balance does not cover that, or what is owed for a payment that went back, or while a person looks whether it is for another account that owes.',
  ],
  'post /payouts/{reference}/confirm': [
    'One of `code`, `totp` and `passkey`. The mailed code is good for this withdrawal only, for 10 minutes, and void after five wrong ones. A second factor counts once it is 72 hours old, a recovery code never.',
    'While the identity is still to be verified (`heldFor: "identity"`), the confirmation is remembered. The price is that of the moment in which it is released, and never more than was promised.',
  ],
  'post /payouts/{reference}/confirm/resend': [
    'The new code replaces the one before. At most five in 15 minutes and ten in 24 hours.',
  ],
  'post /payouts/{reference}/cancel': [
    'The withdrawal is `failed` with `failureReason: "Cancelled by the creator"`, and the money is in the balance again. Works until it is sent, also while it is held.',
  ],
  'get /creators/payees': ['At most a hundred, the last used first.'],
  'delete /creators/payees/{id}': ['The account appears again when it is withdrawn to.'],
  'get /creators/banks': [
    'Nicknames such as `gtb`, `uba` and `opay` work in `q` only. `bankCode` of a withdrawal is the `code`.',
  ],
  'post /creators/payout-wallet/challenge': [
    'Have the wallet sign exactly the bytes of `message` (UTF-8), as `signMessage` does, and send the signature with [PUT /creators/payout-wallet](#put-creators-payout-wallet). A new message replaces the one before.',
  ],
  'put /creators/payout-wallet': [
    'Needs a step-up: the first request is answered 401 `step_up_required` and a code is mailed; repeat it with `code`. A second factor older than 72 hours does as well, except within 72 hours of a change of the e-mail or of a factor. The wallet must be yours alone: no custody wallet, no program, no token account, not the payout wallet of another account.',
    'Tips stay where they go: with `settings.tipsTo` `payout_wallet` they go to the new wallet from now on. Tips to the one before stay yours in every list.',
  ],
  'delete /creators/payout-wallet': [
    '`settings.tipsTo` becomes `custody`. Tips to the wallet stay yours in every list.',
  ],
  'get /creators/wallet/tokens': [
    'By the books: final tips to the custody wallet, less what was taken out or swept and what is in a signed transfer. Of USDC at most `availableUSDC`. Tokens that came without a tip do not count.',
  ],
  'post /creators/wallet/transfers': [
    'Moves what is in your custody wallet to your payout wallet, which pays the network fee. Needs a step-up: the first request is answered 401 `step_up_required` and a code is mailed; repeat it with `code`.',
    'Have the payout wallet sign `transfer.transaction` (it is the fee payer), and send it to [POST /creators/wallet/transfers/:id/sign](#post-creators-wallet-transfers-id-sign) within a minute. A prepared transfer holds and blocks nothing.',
    'Of USDC at most what could be withdrawn. Of SOL, take all or leave at least 0.00089088 SOL.',
  ],
  'post /creators/wallet/transfers/{id}/sign': [
    'The answer has the complete transaction: submit it (`sendRawTransaction`) before `lastValidBlockHeight`. The service submits nothing. Repeat the request if its answer is lost: a signed transfer is answered again.',
    'The wallet may change the compute budget and add Lighthouse instructions, and nothing else. From now on USDC are held; `final` means gone, `failed` and `expired` mean that they are back.',
  ],
  'put /creators/domains': [
    'Bare hosts such as `example.com`, with a port such as `example.com:8443`, or `*.example.com` for its subdomains. `localhost` and `127.0.0.1` need no entry.',
  ],
  'get /payouts/history': [
    'A `reference` is found in any case.',
    'A withdrawal goes through `pending`, `submitted`, `processing` and `completed`, or ends as `failed` and the money is returned to the balance.',
  ],
  'get /creators/bank-accounts': [
    'At most five. Withdraw to one of them again with its `reference` as `bankAccountOf`.',
  ],
  'get /creators/balance/tokens': [
    'Read from the chain, at most ten seconds old. These tokens are in the creator’s wallet and cannot be withdrawn to a bank: take them out with [POST /creators/wallet/transfers](#post-creators-wallet-transfers), or set `autoConvertUsdc` and later tips arrive as USDC.',
  ],
  'post /creators/bank-accounts/resolve': ['Show the holder’s name before money is sent to the account.'],
  'get /reserves': [
    'The newest report. One is made each day. 404 until there is one.',
    '`report` is signed exactly as it stands: check the signature over its bytes first, then parse it.',
    'Custody is all wallets whose keys the service keeps, read in finalized blocks: `book` is what must be there, `chain` what is. Tips sent there directly make `chain` larger. No wallet is named but the treasury’s. To compare, add up what the chain shows for the recipients of [public tips](#get-chain-tips): it cannot be more than `chain`.',
    '`surplus` is what is left in naira, at `rate`, if everybody is paid; what creators owe the service does not count.',
  ],
  'get /.well-known/tipping-keys.json': [
    'A JWK Set (RFC 7517). Keys that are not used any more stay, so that old reports can be checked.',
  ],
}
