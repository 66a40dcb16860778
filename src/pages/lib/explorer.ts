/** A transaction where anybody can look at it. */
export function explorerUrl(signature: string): string {
  return `https://explorer.solana.com/tx/${encodeURIComponent(signature)}`
}
