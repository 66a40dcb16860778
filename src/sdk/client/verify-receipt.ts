import { bytesOf } from './verify-webhook.js'

/** Why a receipt is refused. */
export class ReceiptError extends Error {
  override name = 'ReceiptError'
}

/** What was paid to whom, as the service signed it. Amounts are decimal text. */
export interface TipReceipt {
  readonly type: 'tip-receipt'
  readonly version: 1
  /** The address of the service. */
  readonly issuer: string
  /** `test`: play money. */
  readonly mode: 'live' | 'test'
  readonly status: 'paid' | 'disputed' | 'partly-refunded' | 'refunded'
  /** As `signature` in lists and `eventId` in events. */
  readonly tipId: string
  readonly paidAt: string
  readonly amount: string
  readonly currency: string
  /** What of `amount` went back to the payer, or is on its way. */
  readonly refunded: string
  /** What the creator got, after the fee. */
  readonly received: string
  readonly receivedCurrency: string
  readonly creator: { readonly id: string | null; readonly name: string | null }
  /** As the integrator gave it. */
  readonly reference: string | null
  /** Null for naira. */
  readonly chain: {
    readonly network: string
    readonly signature: string
    readonly mint: string
    readonly wallet: string
  } | null
  /** The receipt says how the payment stood then. Newer ones may say more: `/t/<token>.json` has the newest. */
  readonly signedAt: string
}

/** The answer of `/t/<token>.json`. */
export interface SignedReceipt {
  readonly receipt: unknown
  readonly signature: string
  readonly keyId: string
}

/** One of `keys` in the answer of `/.well-known/tipping-keys.json`. */
export interface ReceiptKey {
  readonly kid: string
  readonly x: string
  readonly signs?: string
}

/**
 * The receipt, if one of these keys of receipts signed exactly it. Throws ReceiptError. Asks nobody: fetch the keys once from the
 * service that you trust, and keep them.
 */
export async function verifyReceipt(signed: SignedReceipt, keys: readonly ReceiptKey[]): Promise<TipReceipt> {
  const { receipt, signature, keyId } = Object(signed) as SignedReceipt
  if (typeof signature !== 'string' || !/^[\w-]{86}$/.test(signature))
    throw new ReceiptError('the signature is not 64 bytes in base64url')
  const key = keys.find(({ kid, signs }) => kid === keyId && signs === 'receipts')
  if (key === undefined)
    throw new ReceiptError('it is signed with a key that is not among the keys of receipts')
  const { type, version } = Object(receipt) as TipReceipt
  if (type !== 'tip-receipt' || version !== 1) throw new ReceiptError('it is no receipt of version 1')
  const text = new TextEncoder().encode(canonicalText(receipt))
  const algorithm = 'Ed25519'
  const publicKey = await crypto.subtle.importKey(
    'raw',
    bytesOf(key.x) ?? new Uint8Array(),
    algorithm,
    false,
    ['verify'],
  )
  if (!(await crypto.subtle.verify(algorithm, publicKey, bytesOf(signature) ?? new Uint8Array(), text)))
    throw new ReceiptError('it was changed after it was signed, or signed by somebody else')
  return receipt as TipReceipt
}

/** Canonical JSON (RFC 8785) of what `JSON.parse` gave. JavaScript writes numbers and texts as the RFC says. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name as keyof typeof value])}`)
  return `{${members.join()}}`
}
