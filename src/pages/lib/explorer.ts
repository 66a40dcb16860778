/** The transaction's page in a public explorer. */
export function explorerUrl(signature: string): string {
  return `https://explorer.solana.com/tx/${encodeURIComponent(signature)}`
}
