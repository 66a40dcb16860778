import { moment, signature, supporterWallet } from './examples.js'
import { agedPasskeyField, agedTotpField, stepUpCodeField } from './factors.js'
import type { FieldNotes } from './field-note.js'

const apiKey = 'tk_live_7c921cdc9c0b0fd3_9mTq2Vw0yJ2hJm8ZqPbWx…'
const optional = 'Null when not set.'

/** Fields of a creator’s settings, domain, API keys, sites and own tips. */
export const creatorsFields: FieldNotes = {
  solDomain: { note: `The linked .sol domain. ${optional}`, example: null },
  twitterHandle: { note: optional, example: null },
  discordHandle: { note: optional, example: null },
  yieldEnabled: { note: 'Tips are swapped into a liquid staking token.', example: false },
  gaslessEnabled: {
    note: 'Intents have `executionMode` `async`. Nothing else changes: the supporter still pays the network fee in SOL.',
    example: false,
  },
  autoConvertUsdc: { note: 'Tips in other tokens are swapped into USDC.', example: false },
  fiatCollection: {
    note: 'How naira tips are paid: a checkout page or a bank transfer.',
    example: 'checkout',
  },
  hideUnpaidWords: {
    note: 'Name and message of a naira tip are listed only once it is paid.',
    example: false,
  },
  tipsTo: {
    note: 'Where new crypto tips go: `custody` (USDC can be withdrawn as naira) or `payout_wallet`, your own wallet.',
    example: 'custody',
  },
  minTipUsd: { note: 'Null: no limit of the creator’s own.', example: 1 },
  maxTipUsd: { note: 'Null: no limit of the creator’s own.', example: null },
  acceptedTokens: { note: 'Symbols.', example: ['SOL', 'USDC', 'USDT', 'BONK'] },
  'patch /creators/me > settings': {
    note: 'Only what is given changes.',
    example: { acceptedTokens: ['SOL', 'USDC'], minTipUsd: 1 },
  },
  'patch /creators/me > name': { omit: true, example: 'Ada Obi' },
  'patch /creators/me > solDomain': { omit: true, example: 'ada.sol' },
  'patch /creators/me > signature': { omit: true },
  'patch /creators/me > code': stepUpCodeField,
  'patch /creators/me > totp': agedTotpField,
  'patch /creators/me > passkey': agedPasskeyField,
  'post /creators/payout-wallet/challenge > wallet': { note: 'Your own, base58.', example: supporterWallet },
  'post /creators/payout-wallet/challenge < message': {
    note: 'To be signed by the wallet, within 10 minutes.',
    example: 'tips.example asks you to make 37JX7KtE… the payout wallet of the account 3f6c1e9a…',
  },
  'put /creators/payout-wallet > wallet': { note: 'The wallet of the challenge.', example: supporterWallet },
  'put /creators/payout-wallet > signature': {
    note: "Base58, the wallet's signature of the message.",
    example: signature,
  },
  'put /creators/payout-wallet > code': stepUpCodeField,
  'put /creators/payout-wallet > totp': agedTotpField,
  'put /creators/payout-wallet > passkey': agedPasskeyField,
  payoutWallet: { note: 'Null: none.' },
  'payoutWallet.wallet': { note: 'Base58.', example: supporterWallet },
  provenAt: { note: 'When the wallet signed.', example: moment },
  takesTips: { example: false },
  'post /creators/domain-challenge > solDomain': { note: 'With or without `.sol`.', example: 'ada.sol' },
  'post /creators/domain-challenge < message': {
    note: "To be signed by the domain's owner.",
    example: 'Link ada.sol to account 3f6c1e9a…',
  },
  'get /creators/tips > status': { omit: true, example: 'confirmed' },
  'get /creators/tips < tips[].status': { example: 'confirmed' },
  tokensChosen: {
    note: 'Whether the creator has set `acceptedTokens` or `autoConvertUsdc`; until then the dashboard asks.',
    example: true,
  },
  token: { note: 'Symbol or mint.', omit: true, example: 'USDC' },
  q: { note: 'In message or sender.', omit: true, example: 'album' },
  searchedSince: { note: 'Null unless `q` left older tips out.', example: null },
  'get /creators/tips/daily > days': { note: 'How many, today included.', example: '30' },
  'get /creators/tips/daily < days': { note: 'Oldest first, days without tips too.' },
  timeZone: { note: 'IANA name.', omit: true, example: 'Africa/Lagos' },
  'days[].date': { note: 'Day in `timeZone`.', example: '2026-11-21' },
  'days[].count': { note: 'Tips of the day.', example: 3 },
  label: { note: 'Your own name for the key.', example: 'my backend' },
  'delete /creators/api-keys/{id} > id': { note: 'As `GET /creators/api-keys` lists it.' },
  prefix: { note: 'The public part of the key.', example: '7c921cdc9c0b0fd3' },
  apiKey: { example: apiKey },
  domains: {
    note: 'The sites that may embed the checkout.',
    example: ['example.com', '*.example.com', 'example.com:8443'],
  },
}
