import { VersionedTransaction } from '@solana/web3.js'
import { decodeBase58, encodeBase58 } from '../../../../src/kernel/base58.js'
import type { LedgerRecord } from '../ledger.js'
import { RpcError } from './error.js'
import { parseInstruction } from './parse-instruction.js'

export type TransactionEncoding = 'base58' | 'base64' | 'json' | 'jsonParsed'

/**
 * A landed transaction in the format of `getTransaction`.
 * @throws RpcError -32015 when the client does not support this version
 */
export function transactionJson(
  record: LedgerRecord,
  encoding: TransactionEncoding,
  maxSupportedVersion: number | undefined,
) {
  const raw = Buffer.from(record.raw, 'base64')
  const transaction = VersionedTransaction.deserialize(raw)
  const { version } = transaction
  if (version !== 'legacy' && (maxSupportedVersion === undefined || version > maxSupportedVersion)) {
    throw new RpcError(
      -32015,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    )
  }
  const { slot, blockTime } = record
  const landed = { slot, blockTime, ...(maxSupportedVersion === undefined ? {} : { version }) }
  if (encoding === 'jsonParsed')
    return { ...landed, meta: parsedMeta(record), transaction: parsedTransaction(record, transaction) }
  if (encoding === 'json') return { ...landed, meta: record.meta, transaction: plainTransaction(transaction) }
  const text = encoding === 'base64' ? record.raw : encodeBase58(raw)
  return { ...landed, meta: record.meta, transaction: [text, encoding] }
}

function plainTransaction(transaction: VersionedTransaction) {
  const { message } = transaction
  return {
    signatures: signatures(transaction),
    message: {
      header: { ...message.header },
      accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
      recentBlockhash: message.recentBlockhash,
      instructions: message.compiledInstructions.map((instruction) => ({
        programIdIndex: instruction.programIdIndex,
        accounts: [...instruction.accountKeyIndexes],
        data: encodeBase58(instruction.data),
        stackHeight: 1,
      })),
      ...tableLookups(transaction),
    },
  }
}

function parsedTransaction(record: LedgerRecord, transaction: VersionedTransaction) {
  const { message } = transaction
  const own = message.staticAccountKeys.length
  const writableEnd = own + record.meta.loadedAddresses.writable.length
  return {
    signatures: signatures(transaction),
    message: {
      accountKeys: record.keys.map((pubkey, index) => ({
        pubkey,
        signer: index < message.header.numRequiredSignatures,
        source: index < own ? 'transaction' : 'lookupTable',
        writable: index < own ? message.isAccountWritable(index) : index < writableEnd,
      })),
      recentBlockhash: message.recentBlockhash,
      instructions: message.compiledInstructions.map((instruction) => ({
        ...parsedCall(record, instruction.programIdIndex, instruction.accountKeyIndexes, instruction.data),
        stackHeight: 1,
      })),
      ...tableLookups(transaction),
    },
  }
}

function parsedMeta(record: LedgerRecord) {
  const { loadedAddresses: _, innerInstructions, ...meta } = record.meta
  const parsed = innerInstructions.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((call) => ({
      ...parsedCall(record, call.programIdIndex, call.accounts, decodeBase58(call.data, Infinity) ?? []),
      stackHeight: call.stackHeight,
    })),
  }))
  return { ...meta, innerInstructions: parsed }
}

function parsedCall(
  record: LedgerRecord,
  program: number,
  accounts: readonly number[],
  data: ArrayLike<number>,
) {
  const keyAt = (index: number) => record.keys[index] ?? ''
  return parseInstruction(keyAt(program), accounts.map(keyAt), Buffer.from(data))
}

function signatures(transaction: VersionedTransaction): string[] {
  return transaction.signatures.map((signature) => encodeBase58(signature))
}

function tableLookups({ version, message }: VersionedTransaction) {
  if (version === 'legacy') return {}
  const addressTableLookups = message.addressTableLookups.map((lookup) => ({
    accountKey: lookup.accountKey.toBase58(),
    writableIndexes: [...lookup.writableIndexes],
    readonlyIndexes: [...lookup.readonlyIndexes],
  }))
  return { addressTableLookups }
}
