import { moment, signature, supporterWallet, usdcMint, userId } from './examples.js'
import type { FieldNotes } from './field-note.js'

const sessionToken = 'sdk_sess_0d9e4c1b-7a52-4f3e-8c66-1b2a3c4d5e6f'

/** Fields of embeds, their sessions and events, and of `/pay`. */
export const sdkFields: FieldNotes = {
  'post /sdk/handoff < code': {
    note: 'For `POST /sdk/handoff/redeem`, or for the address `/pay/<code>`.',
    example: 'h7Jd2mQx9PbW',
  },
  'post /sdk/handoff/redeem > code': { note: 'As `POST /sdk/handoff` gave it.', example: 'h7Jd2mQx9PbW' },
  'get /pay/{code} > code': { note: 'As `POST /sdk/handoff` gave it.', example: 'h7Jd2mQx9PbW' },
  'post /pay/{code} > code': { note: 'As `POST /sdk/handoff` gave it.', example: 'h7Jd2mQx9PbW' },
  'config.creatorId': { note: 'The creator as it was resolved.', example: userId },
  'get /sdk/events > creatorId': {
    note: "The owner of the API key. A key reads only its owner's events.",
    example: userId,
  },
  'get /sdk/intents/{intentId} > intentId': { note: 'As `POST /sdk/tip` gave it.' },
  'get /sdk/intents/{intentId} < status': {
    note: '`failed` and `expired` are final, `confirmed` too; the others may still change. Only an underpaid intent may still be paid by another transaction.',
    example: 'confirmed',
  },
  'get /sdk/intents/{intentId} < outcome': { example: null },
  eventId: { example: signature },
  'get /sdk/intents < intents[].amountUsd': { note: 'Of a naira intent.', example: 10 },
  'get /sdk/intents < intents[].amountNgn': {
    note: 'What the payer of a naira intent pays.',
    example: 15_200,
  },
  'get /sdk/intents/{intentId} < receivedAmount': { example: 4.9 },
  'post /sdk/tip > message': {
    note: 'Optional, kept to 500 characters. It is the tip’s, whatever is reported later.',
    omit: true,
    example: 'for the album',
  },
  'post /pay/{code} < message': { note: 'What the wallet shows.', example: 'Tip for Ada Obi' },
  'post /sdk/init > originUrl': {
    note: 'The page that embeds it. Its site must be on the whitelist; `localhost` and `127.0.0.1` always are.',
    example: 'https://example.com/tip',
  },
  theme: { note: 'An unknown theme becomes `dark`.', example: 'dark' },
  sessionToken: { note: 'For the page. Short-lived: a new one for every embed.', example: sessionToken },
  creatorAddress: { note: 'Masked.', example: 'B4D2...71Am' },
  embedUrl: {
    note: 'For the `src` of an iframe. The token is in its fragment, which no server sees.',
    example: `https://tips.example/embed/Zr4kq2Vw?theme=dark#${sessionToken}`,
  },
  'events[].eventId': { note: 'Same as `txSignature`. A tip has exactly one event.', example: signature },
  'events[].timestamp': {
    note: 'When it was confirmed. Strictly increasing for a creator: give the newest as `since`.',
  },
  amountUsdc: { example: 5 },
  amountRaw: { example: 5_000_000 },
  outcome: { example: null },
  symbol: { note: 'Symbol of the token.', example: 'USDC' },
  mint: { note: 'Mint address of the token.', example: usdcMint },
  decimals: { note: 'One token is 10 to this power base units.', example: 6 },
  'input.amount': { note: 'Base units the supporter pays.', example: '5000000' },
  'output.amount': { note: 'Base units the creator receives.', example: '4900000' },
  'tokens[].mint': { note: 'For `inputTokenMint`.', example: usdcMint },
  presetsUsd: { note: 'Amounts to offer.', example: [2, 5, 10] },
  'limits.minTipUsd': { example: 0.01 },
  'limits.maxTipUsd': { example: 10_000 },
  chain: { example: 'solana:mainnet' },
  bundleRpcUrl: {
    note: 'The same for intents of `executionMode` `async`; `rpcUrl` unless another is set.',
    example: 'https://rpc.example',
  },
  now: { note: "The service's clock; a device's may be wrong.", example: moment },
  rpcUrl: { note: 'An RPC endpoint for browsers, if there is one.', example: 'https://rpc.example' },
  'fiat.enabled': { note: 'Whether naira tips are taken.', example: true },
  'fiat.collection': { example: 'checkout' },
  'fiat.minNgn': { note: 'The smallest naira charge.', example: 100 },
  'fiat.maxNgn': { note: 'The largest naira charge.', example: 5_000_000 },
  parentOrigin: { note: 'The site the embed belongs to.', example: 'https://example.com' },
  account: { example: supporterWallet },
  icon: { note: 'Address of a picture.', example: 'https://tips.example/pay-icon.svg' },
  'get /pay/{code} < label': { note: 'The name of the creator who will be paid.', example: 'Ada Obi' },
  report: {
    note: 'A JSON object as text: what is owed, and what is in custody, in the treasury, in the float and to be received. Amounts are decimal text.',
    example:
      '{"version":1,"publisher":"https://tips.example","time":"2026-11-21T09:30:15.250Z","owed":{…},…}',
  },
  'get /reserves < signature': {
    note: 'Ed25519 over the bytes of `report` (UTF-8), base64url.',
    example: 'hF0Ck9v1Q3Jd0m3bqkVZP1r8eYtT5uW2xN7aLc4SgEo6iBfMzXyRjKpDlU9nHwOqTs2vAe1CrGyJh5kLmP3dAg',
  },
  keyId: {
    note: 'The `kid` of the key in [GET /.well-known/tipping-keys.json](#get-well-known-tipping-keys-json).',
    example: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  },
  keys: { note: 'The keys of all reports, the newest first.' },
  'keys[].kid': {
    note: 'The thumbprint of the key (RFC 7638).',
    example: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  },
  'keys[].alg': { example: 'EdDSA' },
  'keys[].x': {
    note: 'The public key, base64url.',
    example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  },
}
