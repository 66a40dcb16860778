import type { Words } from '../blocks.js'

/** What is worth knowing of a call beyond its fields. */
export const callNotes: Readonly<Record<string, readonly Words[]>> = {
  'post /auth/register': [
    'Opens a session at once: the answer sets the cookie and holds an access token. The wallet follows within a second.',
  ],
  'post /auth/login': ['A session that was presented ends; a new one begins.'],
  'post /auth/otp/start': ['The code has six digits, is valid 10 minutes and once. A new one replaces it.'],
  'post /auth/otp/verify': [
    'Five wrong codes within 15 minutes lock this way of logging in for 15 minutes. The password keeps working.',
  ],
  'get /auth/me': ['Takes the cookie or the access token.'],
  'patch /creators/me': [
    'Settings are merged key by key: what is absent stays, and so does what is null, except the two limits, which null lifts. A .sol domain is linked when it resolves to your wallet, or with its owner’s signature.',
  ],
  'post /creators/api-keys': ['The key acts for you: keep it on a server. At most 20 open keys.'],
  'post /sdk/init': [
    'For a backend. Open a new session for every embed; it lives 15 minutes, makes 5 intents and ends with its first confirmed tip.',
  ],
  'post /sdk/tip': [
    'Answers everything [POST /payments/intent](#post-payments-intent) does, so a page can have it signed at once.',
  ],
  'get /sdk/intents/{intentId}': [
    'Answers until 60 minutes after the session ended. Ask after 1, 1, 2, 3, then every 5 seconds.',
  ],
  'get /sdk/session': ['Answers until 60 minutes after the session ended.'],
  'get /sdk/events': [
    'At most 50, newest first. Give the `timestamp` of the newest one you have processed as `since`: none is skipped. Were there more than 50, page back with `before`. Ask every 30 to 60 seconds.',
    'A tip in naira is an event too: `tokenSymbol` is `FIAT`, `amountRaw` counts cents, `eventId` is its `fiatpay_` id.',
  ],
  'post /payments/intent': [
    'The transaction is unsigned. Deserialize it, let the wallet sign it, submit it yourself before `lastValidBlockHeight` passes, then [record it](#post-chain-tips-create). The service never submits anything.',
  ],
  'post /chain/tips/create': [
    'Once per `txSignature`: a repetition answers the tip that is there, with only its id and status. What you say is a claim; the chain decides what the creator received. A transaction that failed stays `pending`.',
  ],
  'get /chain/tips': ['Confirmed tips, and naira tips in every state, where the address received or sent.'],
  'get /chain/tips/stream': [
    'Begins with `retry: 10000` and the connection event; then a comment every 15 seconds as a heartbeat, and one event for each tip as it is confirmed. Send the last `id` as `Last-Event-ID` and nothing is missed.',
    'A browser’s `EventSource` stops for ever after one answer that is not 200. `streamTips` of the client goes on.',
  ],
  'post /payments/fiat/intent': [
    'Send the payer to `checkoutUrl`, or show `paymentInstructions`. The intent is open for 30 minutes; money that comes later still counts.',
    'The payer is charged what remains of `amount` after the 5 % fee, in naira, unless `amountNgn` says otherwise.',
  ],
  'get /payments/fiat/status': [
    'Ask every 5 to 10 seconds and stop at `completed`. Every answer carries `Cache-Control: no-store`.',
  ],
  'post /payouts/withdraw': [
    'The money is held first, then sent once. `pending` means it will be sent or is being sent: never repeat it without the same `Idempotency-Key`. Follow it by `reference` in [the history](#get-payouts-history).',
    'Large withdrawals wait until the creator’s identity is verified: `requiresVerification` is then true, and an e-mail tells what to do.',
  ],
  'get /payouts/history': [
    'A withdrawal walks through `pending`, `submitted`, `processing` and `completed`, or ends in `failed` with the money back.',
  ],
  'post /creators/bank-accounts/resolve': ['Show the name before money is sent to it.'],
}
