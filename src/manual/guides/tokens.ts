import { tokens as known } from '../../kernel/tokens.js'
import { type Chapter, code, guide, heading, list, table, text } from '../blocks.js'

export function tokens(): Chapter {
  return {
    ...guide(
      'tokens',
      'Tokens and amounts',
      text(
        'A token is identified by its mint; symbols are for display. SOL has no mint and is identified by the mint of wrapped SOL.',
      ),
      table(
        ['Token', 'Mint', 'Decimals'],
        ...known.map(({ symbol, mint, decimals }) => [symbol, `\`${mint}\``, String(decimals)]),
      ),
      heading('Raw and display'),
      text(
        'One token is 10 to the power of its decimals in **raw** units: 0.5 SOL is 500000000 raw, 5 USDC is 5000000. These fields use:',
      ),
      table(
        ['Field', 'Unit'],
        ['`amount` of `POST /payments/intent`', 'display units of the token'],
        ['`amountUsd`, `amount` of `POST /sdk/tip`', 'US dollars'],
        ['`tipAmount`, `quote.outAmount`, `amountRaw`', 'raw units'],
        ['`amount` and `receivedAmount` of tips, events and the stream', 'display units'],
        ['`amountUsdc` of events', 'USDC; 0 for every other token'],
      ),
      heading('What the creator receives'),
      list(
        'The platform fee of a crypto tip is 2 %, taken in the same transaction: `quote.outAmount` is the rest.',
        'A creator who does not accept the token that is sent gets USDC: the transaction then swaps, and `provider` names the swap engine.',
        'Before confirmation a tip shows the claimed amount. After it, `amount` is what the supporter gave by the chain: what was received, and of a direct transfer the platform fee too. `receivedAmount` is always what was received. Claims change neither.',
        'An intent is paid when at least `quote.outAmount` arrived, of a swap less the quoted slippage. Less is listed as a tip of what arrived, and the intent is `failed` with the outcome `underpaid`.',
        'Only money that arrived on the chain is credited. A claim alone credits nothing.',
      ),
      heading('Before a transaction expires'),
      text(
        'A transaction is valid until `lastValidBlockHeight`, for about a minute; `expiresAt` is an estimate of that time. After that make a new intent. If the wallet has already sent the transaction, wait for its result first: it may have landed.',
      ),
    ),
    samples: [
      code(
        'ts',
        'Pay an intent with a wallet',
        "import { Connection, VersionedTransaction } from '@solana/web3.js'",
        '',
        'const bytes = Uint8Array.from(atob(intent.transaction), (c) => c.charCodeAt(0))',
        'const signed = await wallet.signTransaction(VersionedTransaction.deserialize(bytes))',
        'const txSignature = await new Connection(rpcUrl).sendTransaction(signed)',
      ),
    ],
  }
}
