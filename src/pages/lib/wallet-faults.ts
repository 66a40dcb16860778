/** What wallets and RPC endpoints throw: perhaps a code, and a message in any language. */
export interface Thrown {
  readonly code?: unknown
  readonly name?: unknown
  readonly message?: unknown
  readonly data?: unknown
}

type WalletFault = 'rejected' | 'disconnected' | 'network' | 'busy' | 'insufficient' | 'failed'

const maxDetail = 200
const declined = /reject|denied|cancel|declin/i
export const insufficient =
  /insufficient (funds|lamports)|InsufficientFunds|custom program error: 0x1\b|"Custom":1\b/i

/** Classifies a wallet's error: by its code if there is one, otherwise by its message. */
export function walletFault(thrown: Thrown): WalletFault {
  const code = Number(thrown.code)
  const message = String(thrown.message ?? '')
  if (code === 4001) return 'rejected'
  if (code === 4100) return 'disconnected'
  if (code === 4900) return 'network'
  // RPC endpoints use the same number for other errors. This function only gets errors of wallets.
  if (code === -32002) return 'busy'
  if (insufficient.test(message)) return 'insufficient'
  return declined.test(message) ? 'rejected' : 'failed'
}

export function detailOf({ message }: Thrown): string {
  return String(message ?? '').slice(0, maxDetail)
}
