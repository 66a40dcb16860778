import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { transactionBytesMax } from '../../ports/swaps.js'
import { associatedAccount } from '../solana/build-transfer.js'

export interface Changes {
  readonly blockhash: string
  /** A token account to create before anything else. */
  readonly newAccount: { readonly payer: string; readonly owner: string; readonly mint: string } | undefined
  /** The addresses in every lookup table the transaction uses. Used only with `newAccount`. */
  readonly tables: ReadonlyMap<string, readonly string[]>
}

/** The u64 maximum: the lookup table was never deactivated. */
const neverDeactivated = 2n ** 64n - 1n

/** The lookup tables a transaction uses. Throws ProviderError for bytes that are not a transaction. */
export function lookupTablesOf(transaction: Uint8Array): string[] {
  return read(transaction).message.addressTableLookups.map(({ accountKey }) => accountKey.toBase58())
}

/**
 * The same unsigned transaction with another blockhash, creating a token account first. Undefined when the result does
 * not fit a packet. Throws ProviderError for bytes that are not a transaction.
 */
export function rebuildTransaction(
  transaction: Uint8Array,
  { blockhash, newAccount, tables }: Changes,
): Uint8Array | undefined {
  const changed = read(transaction)
  changed.message.recentBlockhash = blockhash
  try {
    const bytes = (newAccount === undefined ? changed : withAccount(changed, newAccount, tables)).serialize()
    return bytes.length > transactionBytesMax ? undefined : bytes
  } catch (error) {
    // The library writes into a buffer of packet size.
    if (error instanceof RangeError) return undefined
    throw new ProviderError(
      'ambiguous',
      `the engine's transaction cannot be read: ${(error as Error).message}`,
    )
  }
}

function withAccount(
  { message }: VersionedTransaction,
  { payer, owner, mint }: NonNullable<Changes['newAccount']>,
  tables: Changes['tables'],
): VersionedTransaction {
  const lookups = [...tables].map(([key, addresses]) => lookupTable(key, addresses))
  const plain = TransactionMessage.decompile(message, { addressLookupTableAccounts: lookups })
  plain.instructions.unshift(
    createAssociatedTokenAccountIdempotentInstruction(
      new PublicKey(payer),
      new PublicKey(associatedAccount(owner, mint)),
      new PublicKey(owner),
      new PublicKey(mint),
    ),
  )
  return new VersionedTransaction(plain.compileToV0Message(lookups))
}

function lookupTable(key: string, addresses: readonly string[]): AddressLookupTableAccount {
  const state = {
    deactivationSlot: neverDeactivated,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses: addresses.map((address) => new PublicKey(address)),
  }
  return new AddressLookupTableAccount({ key: new PublicKey(key), state })
}

function read(transaction: Uint8Array): VersionedTransaction {
  try {
    return VersionedTransaction.deserialize(transaction)
  } catch {
    throw new ProviderError('ambiguous', 'the engine did not return a transaction')
  }
}
