import { moment, payoutReference, userId } from './examples.js'
import { agedPasskeyField, agedTotpField } from './factors.js'
import type { FieldNotes } from './field-note.js'

/** Fields of balances, transactions and withdrawals. */
export const moneyFields: FieldNotes = {
  'get /payouts/history > status': { omit: true, example: 'completed' },
  amountUSDC: { note: 'What the balance was debited.', example: 25 },
  'post /payouts/withdraw > amountNGN': { omit: true, example: 40_000 },
  amountNGN: {
    note: 'Naira that reach the bank account, after the fee; in the history, what was really paid.',
    example: 39_600,
  },
  promisedNGN: {
    note: 'Naira promised at the request. More than `amountNGN` when the rate fell while the withdrawal was held.',
    example: 39_600,
  },
  systemFeeNGN: { note: "The service's fee.", example: 400 },
  bankCode: {
    note: 'Three digits, or a longer code of `GET /creators/banks`: wallets such as OPay and microfinance banks have those.',
    example: '058',
  },
  bankName: { note: 'Null when the bank is not known by name.', example: 'Guaranty Trust Bank' },
  accountNumber: { example: '0123456789' },
  bankAccountOf: {
    note: 'Instead of the three fields of the account: the `reference` of an own withdrawal, whose account is paid.',
    omit: true,
    example: payoutReference,
  },
  'payouts[].accountNumber': { example: '******6789' },
  'bankAccounts[].accountNumber': { example: '******6789' },
  'bankAccounts[].reference': {
    note: 'The last withdrawal to this account; send it as `bankAccountOf`.',
    example: payoutReference,
  },
  'bankAccounts[].lastUsedAt': { example: moment },
  'tokens[].amount': { note: 'In display units.', example: 0.98 },
  accountName: { note: 'The holder of the account.', example: 'ADA OBI' },
  'get /payouts/history > reference': { note: 'Only this withdrawal.', example: payoutReference },
  'transactions[].reference': {
    note: 'The tip or the withdrawal that moved the money.',
    example: payoutReference,
  },
  'post /payouts/withdraw < status': {
    note: '`pending`: recorded, and sent as soon as it can be. Never sent twice.',
    example: 'submitted',
  },
  'payouts[].status': { example: 'completed' },
  heldFor: {
    note: 'What it waits for: `identity`, `confirmation`, `breaker` or null. The identity comes first, the breaker last.',
    example: null,
  },
  'post /payouts/{reference}/confirm > reference': {
    note: 'Of an own withdrawal.',
    example: payoutReference,
  },
  'post /payouts/{reference}/confirm/resend > reference': {
    note: 'Of an own withdrawal.',
    example: payoutReference,
  },
  'post /payouts/{reference}/cancel > reference': { note: 'Of an own withdrawal.', example: payoutReference },
  'post /payouts/{reference}/confirm > code': { note: 'Six digits from the mail.', example: '428193' },
  'post /payouts/{reference}/confirm > totp': agedTotpField,
  'post /payouts/{reference}/confirm > passkey': agedPasskeyField,
  'payees[].id': { note: 'For `DELETE /payouts/payees/{id}`.', example: userId },
  'payees[].accountNumber': { example: '******6789' },
  'payees[].confirmed': {
    note: 'A withdrawal was sent to it, or one to it was confirmed.',
    example: true,
  },
  'payees[].addedAt': { example: moment },
  'payees[].lastUsedAt': { example: moment },
  'delete /payouts/payees/{id} > id': { note: 'Of `GET /payouts/payees`.', example: userId },
  requiresVerification: { note: 'Held until the identity of the creator is verified.', example: false },
  failureReason: { note: "The provider's words; null unless it failed.", example: null },
  submittedAt: { example: moment },
  processingAt: { example: moment },
  completedAt: { example: moment },
  failedAt: { example: null },
  'banks[].code': { note: 'For `bankCode`.', example: '058' },
  'banks[].name': { example: 'Guaranty Trust Bank' },
  'banks[].nicknames': { note: 'What people call it; for a search.', example: ['GTB', 'GTBank', 'GTCO'] },
  'get /creators/banks > q': { note: 'Part of a name, a nickname or a code.', omit: true, example: 'gtb' },
  availableUSDC: { note: 'Can be withdrawn now.', example: 118.4 },
  pendingUSDC: {
    note: 'Confirmed and not final on the chain, or paid by card and kept until its `availableAt`.',
    example: 4.9,
  },
  heldUSDC: { note: 'Held by withdrawals on their way.', example: 25 },
  'transactions[].id': { example: '1042' },
  'transactions[].account': { note: 'Which of the three balances moved.', example: 'available' },
  'transactions[].type': { example: 'credit' },
  'transactions[].amountUSDC': { note: 'Negative when it left.', example: 19 },
  balanceAfterUSDC: { example: 118.4 },
  availableAt: { note: 'Of money that was paid by card.', example: null },
}
