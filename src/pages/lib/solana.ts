/** The little of Solana that a page needs, because the Solana libraries are ten times as large as the page. */

const signatureLength = 64

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

/** The first signature of a serialized transaction, which is the fee payer's. Throws when it is missing. */
export function firstSignature(transaction: Uint8Array): Uint8Array {
  const { count, at } = signatureCount(transaction)
  const signature = transaction.subarray(at, at + signatureLength)
  const whole = count >= 1 && transaction.length > at + signatureLength * count
  if (!whole || signature.every((byte) => byte === 0)) throw new Error('The transaction is not signed')
  return signature
}

/** Whether this account is the transaction's fee payer and its signature is present. Does not verify the signature. */
export function isSignedBy(transaction: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    firstSignature(transaction)
  } catch {
    return false
  }
  return feePayer(transaction)?.every((byte, index) => byte === publicKey[index]) ?? false
}

/** The message of a serialized transaction: what its signatures sign. */
export function messageOf(transaction: Uint8Array): Uint8Array {
  const { count, at } = signatureCount(transaction)
  return transaction.subarray(at + signatureLength * count)
}

/** The first account of the message pays the fee. */
function feePayer(transaction: Uint8Array): Uint8Array | undefined {
  const message = messageOf(transaction)
  // A versioned message begins with its version; then come three counts and the number of accounts.
  const head = (message[0] ?? 0) >= 128 ? 1 : 0
  const accounts = compactLength(message, head + 3)
  const payer = message.subarray(accounts.at, accounts.at + 32)
  return payer.length === 32 ? payer : undefined
}

function signatureCount(transaction: Uint8Array): { count: number; at: number } {
  return compactLength(transaction, 0)
}

/** Solana's compact-u16: seven bits a byte, at most three bytes. */
function compactLength(bytes: Uint8Array, from: number): { count: number; at: number } {
  let count = 0
  for (let index = 0; index < 3; index++) {
    const byte = bytes[from + index] ?? 0
    count |= (byte & 127) << (7 * index)
    if (byte < 128) return { count, at: from + index + 1 }
  }
  return { count, at: from + 3 }
}

export function explorerUrl(signature: string): string {
  return `https://explorer.solana.com/tx/${encodeURIComponent(signature)}`
}
