import { VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { RpcError } from '../rpc/error.js'

/** A decoded transaction whose bytes are safe for the virtual machine. */
export interface WireTransaction {
  readonly raw: Uint8Array
  readonly parsed: VersionedTransaction
  /** The fee payer's signature, which identifies the transaction. */
  readonly signature: string
}

/** The packet limit of the network, in bytes. */
export const transactionBytesMax = 1232
const accountsMax = 256

/**
 * Decodes a transaction. Refuses everything on which the virtual machine would panic or that it would read differently:
 * missing or trailing bytes, header counts that do not fit, and indexes out of range.
 * @throws RpcError -32602, as a node answers
 */
export function decodeTransaction(raw: Uint8Array): WireTransaction {
  try {
    if (raw.length > transactionBytesMax) {
      throw new Error(`too large: ${raw.length} bytes (max: ${transactionBytesMax})`)
    }
    const parsed = VersionedTransaction.deserialize(raw)
    if (parsed.version === 1) throw new Error('version 1 is not executed by this chain')
    if (!Buffer.from(parsed.serialize()).equals(raw)) throw new Error('trailing bytes')
    checkMessage(parsed)
    return { raw, parsed, signature: encodeBase58(parsed.signatures[0] ?? new Uint8Array()) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new RpcError(-32602, `failed to deserialize transaction: ${reason}`)
  }
}

function checkMessage({ message, signatures }: VersionedTransaction): void {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header
  const own = message.staticAccountKeys.length
  const loaded = message.addressTableLookups.reduce(
    (sum, lookup) => sum + lookup.writableIndexes.length + lookup.readonlyIndexes.length,
    0,
  )
  const headerFits =
    signatures.length === numRequiredSignatures &&
    numRequiredSignatures >= 1 &&
    numRequiredSignatures <= own &&
    numReadonlySignedAccounts < numRequiredSignatures &&
    numReadonlyUnsignedAccounts <= own - numRequiredSignatures &&
    own + loaded <= accountsMax
  if (!headerFits) throw new Error('sanitize: the header does not fit the account keys')
  const indexesFit = message.compiledInstructions.every(
    ({ programIdIndex, accountKeyIndexes }) =>
      programIdIndex > 0 && programIdIndex < own && accountKeyIndexes.every((index) => index < own + loaded),
  )
  if (!indexesFit) throw new Error('sanitize: an instruction points outside the account keys')
}
