import { hash } from 'node:crypto'

const signatureBytes = 64
/** First byte of a version 1 transaction, which begins with its message and ends with its signatures. */
const versionOne = 0x81

/**
 * The message of a serialized transaction: the bytes its signers sign. Legacy and version 0 begin with the number of
 * signatures (one byte: fewer than 128 fit a packet) and the signatures, version 1 ends with them.
 */
export function messageOf(transaction: Uint8Array): Uint8Array {
  const [first = 0, second = 0] = transaction
  return first === versionOne
    ? transaction.subarray(0, transaction.length - second * signatureBytes)
    : transaction.subarray(1 + first * signatureBytes)
}

/** SHA-256 of the message: what an intent keeps when its transaction cannot carry a reference key. */
export function messageHash(transaction: Uint8Array): Buffer {
  return hash('sha256', messageOf(transaction), 'buffer')
}
