import { creatorWallet, signature, supporterWallet, usdcMint, userId } from './examples.js'
import type { FieldNotes } from './field-note.js'

const intentId = 'pi_5fb8a869-40c1-4c0f-9a53-0a8b2f3c7d11'

/** Fields of crypto tips, and of tips in lists and streams. */
export const cryptoTipsFields: FieldNotes = {
  creatorId: { note: 'User id, wallet address or .sol domain.', example: userId },
  amount: { note: 'Display units.', example: 5 },
  'post /payments/intent > amount': { example: 0.5 },
  'post /payments/intent > amountUsd': { omit: true },
  inputTokenMint: {
    note: 'Mint of the token that is sent: one of [the known ones](#tokens).',
    example: usdcMint,
  },
  'post /payments/intent > inputTokenMint': { example: 'So11111111111111111111111111111111111111112' },
  sourceWalletAddress: {
    note: "The supporter's wallet: pays the tip and the network's fee.",
    example: supporterWallet,
  },
  tokenSymbol: { note: 'Symbol, else the mint.', example: 'USDC' },
  'post /payments/intent > tokenSymbol': { example: 'SOL' },
  'post /payments/intent < quote.tokenSymbol': { example: 'SOL' },
  'post /payments/intent < quote.outAmount': { example: '490000000' },
  'post /payments/intent < quote.amountUsd': { example: 75 },
  intentId: { note: 'The id of the intent.', example: intentId },
  transaction: {
    note: 'Base64 of a serialized, unsigned versioned transaction.',
    example: 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAEABQs=',
  },
  'quote.outAmount': { example: '4900000' },
  'quote.priceImpactPct': { note: 'Percent; 0 for a direct transfer.', example: 0 },
  'quote.amountUsd': { note: 'Value when the intent was made.', example: 5 },
  executionMode: {
    note: '`async`: submit through a bundle-capable RPC endpoint. The network fee is the supporter’s either way.',
    example: 'sync',
  },
  'post /payments/intent < provider': { example: 'direct-transfer' },
  lastValidBlockHeight: {
    note: 'After this block height the transaction is invalid: make a new intent.',
    example: 312_450_871,
  },
  creatorWallet: { note: "The creator's wallet, base58.", example: creatorWallet },
  senderWallet: { note: "The supporter's wallet, base58.", example: supporterWallet },
  tipAmount: { example: 5_000_000 },
  txSignature: { note: 'Base58, 64 bytes.', example: signature },
  signature: { note: 'Transaction signature; of a naira tip its `fiatpay_` id.', example: signature },
  message: { note: 'What the supporter wrote.', example: 'for the album' },
  'post /payments/intent > message': {
    note: 'Optional, kept to 500 characters. It is the tip’s, whatever is reported later.',
    omit: true,
    example: 'for the album',
  },
  'post /chain/tips/create < message': {
    note: 'Says whether the tip is new or was recorded before.',
    example: 'Tip recorded successfully',
  },
  'tip.id': { note: 'The transaction signature.', example: signature },
  'tip.status': { example: 'pending' },
  'tip.recipientId': {
    note: 'Set when the wallet belongs to an account; absent for a duplicate.',
    example: userId,
  },
  'tip.amount': { note: 'The `tipAmount` as given; absent for a duplicate.', example: 5_000_000 },
  'tip.tokenSymbol': { note: 'Absent for a duplicate.', example: 'USDC' },
  address: { example: creatorWallet },
  'creator.address': { example: 'B4D2...71Am' },
  wallet: { note: "The creator's wallet, base58.", example: creatorWallet },
  recipient: { note: "The creator's wallet; empty until there is one.", example: creatorWallet },
  recipient_id: { note: "The creator's user id.", example: userId },
  recipientId: { example: userId },
  sender: { note: 'Wallet, or the display name of a naira tip.', example: supporterWallet },
  sender_id: { note: "The supporter's user id, when the wallet has an account.", example: null },
  receivedAmount: { note: 'What the creator received, display units.', example: 4.9 },
  valueUsd: { note: 'Stablecoins and naira at face value, others at the last known price.', example: 5 },
  isStable: { note: 'USDC, USDT or naira.', example: true },
  fiatDetails: { example: null },
  disputed: {
    note: 'Of a naira tip: its payer disputes the payment, and the bank has not decided. As much of the balance is held. Absent otherwise.',
    omit: true,
    example: true,
  },
  refundedAmount: {
    note: 'Of a naira tip: how much of `amount` went back to the payer, or is on its way back. Absent: nothing.',
    omit: true,
    example: 5,
  },
  'get /chain/tips/stream < status': { note: 'The first event of a connection.', example: 'connected' },
  'get /chain/tips/stream < type': { note: 'Every further event.', example: 'tip' },
  'get /chain/tips/stream < timestamp': {
    note: "When it was confirmed. Continue with the event's `id:` as `Last-Event-ID`.",
  },
  'get /chain/tips < tips[].timestamp': { note: 'When it was recorded.' },
  'get /chain/tips < tips[].status': { example: 'confirmed' },
}
