import type { DueRows } from '../platform/database/due-rows.js'

/** A payment intent that a worker has taken to search for its payment. */
export interface DuePaymentIntent {
  readonly id: string
  readonly attempts: number
  readonly ageMs: number
  readonly payoutWallet: string
  readonly sourceWallet: string
  readonly inputMint: string
  readonly inputRaw: string
  /** Null when the transaction cannot carry a reference key. */
  readonly referenceKey: string | null
}

/** The intents whose payments are searched for. The confirmation of a tip ends the search too. */
export const intentQueue: DueRows = {
  name: 'intents',
  table: 'payment_intents',
  id: 'text',
  // One search per intent, sent to the RPC endpoint in JSON-RPC batches of a hundred.
  batchSize: 256,
  leaseSeconds: 60,
  columns: /* sql */ `
    t.id, t.attempts, (extract(epoch from clock_timestamp() - t.created_at) * 1000)::float8 as "ageMs",
    t.payout_wallet as "payoutWallet", t.source_wallet as "sourceWallet", t.input_mint as "inputMint",
    t.input_raw::text as "inputRaw", t.reference_key as "referenceKey"`,
}
