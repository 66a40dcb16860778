import type { Fault } from './state.js'

/** What wallets and endpoints throw: a code, if they are kind, and words in any language. */
export interface Thrown {
  readonly code?: unknown
  readonly name?: unknown
  readonly message?: unknown
  readonly data?: unknown
}

const maxDetail = 200
const declined = /reject|denied|cancel|declin/i
const short = /insufficient (funds|lamports)|InsufficientFunds|custom program error: 0x1\b|"Custom":1\b/i

/** What a wallet's refusal means. Its own words are for the details only; the code decides where there is one. */
export function walletFault(thrown: Thrown): Fault {
  const code = Number(thrown.code)
  const message = String(thrown.message ?? '')
  if (code === 4001) return 'rejected'
  if (code === 4100) return 'disconnected'
  if (code === 4900) return 'network'
  // Endpoints use the same number for something else; this one came from a wallet.
  if (code === -32002) return 'busy'
  if (short.test(message)) return 'insufficient'
  return declined.test(message) ? 'rejected' : 'failed'
}

/**
 * Whether a wallet that was to sign and send surely sent nothing. Anything but a plain refusal leaves it open: then the
 * payment is looked for, and nobody is told to pay again.
 */
export function surelyUnsent(fault: Fault): boolean {
  return ['rejected', 'busy', 'disconnected', 'insufficient'].includes(fault)
}

/** What an endpoint's JSON-RPC error means: it looked at the transaction and did not send it. */
export function sendFault({ code, message, data }: Thrown): Fault {
  const text = `${String(message ?? '')} ${JSON.stringify(data ?? '')}`
  if (/Blockhash ?not ?found|block height exceeded/i.test(text)) return 'expired'
  if (short.test(text)) return 'insufficient'
  return Number(code) === 4900 ? 'network' : 'failed'
}

/** Somebody else's words, short enough to show. */
export function detailOf({ message }: Thrown): string {
  return String(message ?? '').slice(0, maxDetail)
}
