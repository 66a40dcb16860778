import { insufficient, type Thrown } from '../../lib/wallet-faults.js'
import type { Fault } from './state.js'

/**
 * Whether this fault of a wallet that signs and sends proves that it sent nothing. After any other fault the transaction may
 * have been sent: the page then searches for the payment and does not offer to pay again.
 */
export function provesNotSent(fault: Fault): boolean {
  return ['rejected', 'busy', 'disconnected', 'insufficient'].includes(fault)
}

/** Classifies the JSON-RPC error of an endpoint that refused a transaction. */
export function sendFault({ code, message, data }: Thrown): Fault {
  const text = `${String(message ?? '')} ${JSON.stringify(data ?? '')}`
  if (/Blockhash ?not ?found|block height exceeded/i.test(text)) return 'expired'
  if (insufficient.test(text)) return 'insufficient'
  return Number(code) === 4900 ? 'network' : 'failed'
}
