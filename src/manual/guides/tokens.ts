import { tokens as known } from '../../kernel/tokens.js'
import { type Chapter, code, guide, heading, list, table, text } from '../blocks.js'

export function tokens(): Chapter {
  return {
    ...guide(
      'tokens',
      'Tokens and amounts',
      text(
        'A token is named by its mint; symbols are for display. SOL has none and is named by the mint of wrapped SOL.',
      ),
      table(
        ['Token', 'Mint', 'Decimals'],
        ...known.map(({ symbol, mint, decimals }) => [symbol, `\`${mint}\``, String(decimals)]),
      ),
      heading('Raw and display'),
      text(
        'One token is 10 to the power of its decimals in **raw** units: 0.5 SOL is 500000000 raw, 5 USDC is 5000000. Which of them a field holds:',
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
        'The platform’s fee of a crypto tip is 2 %, taken in the same transaction: `quote.outAmount` is what is left.',
        'A creator who does not take the token that is sent gets USDC: the transaction then swaps, and `provider` names the engine.',
        'Until it is confirmed a tip shows what was claimed. After that, `amount` is the claim if the chain bears it out, else what arrived; `receivedAmount` is always what arrived.',
        'Only what the chain says is credited. Nobody can claim a tip into being.',
      ),
      heading('Before a transaction expires'),
      text(
        'A transaction is worth something until `lastValidBlockHeight`, about a minute; `expiresAt` is our estimate of when. After that make a new intent. If the wallet has signed and sent it, wait for the verdict instead: it may have landed.',
      ),
    ),
    beside: [
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
