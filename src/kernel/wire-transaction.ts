import { hash } from 'node:crypto'
import { encodeBase58 } from './base58.js'

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

/** The first signature of a serialized legacy or version 0 transaction, base58: its id. Undefined unless it has exactly two. */
export function firstSignature(transaction: Uint8Array): string | undefined {
  return transaction[0] === 2 && transaction.length > 1 + 2 * signatureBytes
    ? encodeBase58(transaction.subarray(1, 1 + signatureBytes))
    : undefined
}

/** SHA-256 of the message. Identifies an intent whose transaction cannot carry a reference key. */
export function messageHash(transaction: Uint8Array): Buffer {
  return hash('sha256', messageOf(transaction), 'buffer')
}
