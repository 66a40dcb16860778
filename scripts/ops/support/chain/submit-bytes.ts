import { Connection, SendTransactionError } from '@solana/web3.js'

/**
 * Sends complete transactions. It asks for no simulation: whatever becomes of them is read from the chain, and the same bytes are
 * sent again until then. Returns how many an endpoint took; a refusal proves nothing.
 */
export async function submitBytes(
  rpcUrls: readonly string[],
  transactions: readonly Uint8Array[],
): Promise<{ readonly taken: number; readonly refusal: string | undefined }> {
  let taken = 0
  let refusal: string | undefined
  for (const bytes of transactions)
    for (const url of rpcUrls)
      try {
        await new Connection(url, 'confirmed').sendRawTransaction(bytes, {
          skipPreflight: true,
          maxRetries: 0,
        })
        taken += 1
        break
      } catch (error) {
        refusal = error instanceof SendTransactionError ? error.message : String(error)
      }
  return { taken, refusal }
}
