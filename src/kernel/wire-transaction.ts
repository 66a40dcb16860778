import { hash } from 'node:crypto'
import { encodeBase58 } from './base58.js'

const signatureBytes = 64
const keyBytes = 32
/** First byte of a version 1 transaction. */
const versionOne = 0x81
/** First byte of the message of a version 0 transaction. A legacy message begins with its header, whose first byte is below. */
const versionZero = 0x80
/** Where the number of keys stands: after a header of three bytes, in version 1 after config mask, blockhash and instruction count too. */
const keyCountAt: Readonly<Record<number, number>> = { [versionZero]: 4, [versionOne]: 41 }
const keyCountAtOfLegacy = 3
/** In legacy and version 0 a larger number of keys, which fits no packet, would take two bytes. */
const mostKeys = 127

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

/** Who signed a transaction, and the accounts that it names itself. All base58. */
export interface SignedAccounts {
  /** The first, which is the transaction's id. */
  readonly signature: string
  /** The signers first. */
  readonly accounts: string[]
  readonly signerCount: number
}

/** Reads the head of a serialized transaction. Undefined when it has another form. */
export function readSignedAccounts(transaction: Uint8Array): SignedAccounts | undefined {
  const message = messageOf(transaction)
  const [first = 0, second = 0] = message
  const isVersioned = first >= versionZero
  const countAt = isVersioned ? keyCountAt[first] : keyCountAtOfLegacy
  if (countAt === undefined) return undefined
  const signerCount = isVersioned ? second : first
  const count = message[countAt] ?? 0
  const keysAt = countAt + 1
  const isWhole = count <= mostKeys && keysAt + count * keyBytes <= message.length
  const isSigned = first === versionOne || transaction[0] === signerCount
  const signatureAt = first === versionOne ? message.length : 1
  const signature = transaction.subarray(signatureAt, signatureAt + signatureBytes)
  if (signerCount === 0 || signerCount > count || !isWhole || !isSigned) return undefined
  if (signature.length < signatureBytes) return undefined
  return {
    signature: encodeBase58(signature),
    accounts: Array.from({ length: count }, (_, index) => {
      const at = keysAt + index * keyBytes
      return encodeBase58(message.subarray(at, at + keyBytes))
    }),
    signerCount,
  }
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
