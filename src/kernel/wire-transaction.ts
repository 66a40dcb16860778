import { hash } from 'node:crypto'

const signatureBytes = 64
/** First byte of a version 1 transaction. */
const versionOne = 0x81

/**
 * The message of a serialized transaction: the bytes its signers sign. Legacy and version 0 transactions begin with
 * the number of signatures (one byte, since fewer than 128 fit a packet) and the signatures. Version 1 transactions
 * end with the signatures.
 */
export function messageOf(transaction: Uint8Array): Uint8Array {
  const [first = 0, second = 0] = transaction
  return first === versionOne
    ? transaction.subarray(0, transaction.length - second * signatureBytes)
    : transaction.subarray(1 + first * signatureBytes)
}

/** SHA-256 of the message. Identifies an intent whose transaction cannot carry a reference key. */
export function messageHash(transaction: Uint8Array): Buffer {
  return hash('sha256', messageOf(transaction), 'buffer')
}
