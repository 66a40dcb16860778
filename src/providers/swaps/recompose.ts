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
  /** A token account that has to be opened before anything else. */
  readonly opening: { readonly payer: string; readonly owner: string; readonly mint: string } | undefined
  /** The addresses in every lookup table the transaction uses; read only when an account is opened. */
  readonly tables: ReadonlyMap<string, readonly string[]>
}

/** A table that is in use is not about to be closed (u64 maximum: never deactivated). */
const neverDeactivated = 2n ** 64n - 1n

/** The lookup tables a transaction uses. Throws ProviderError for bytes that are no transaction. */
export function tablesOf(transaction: Uint8Array): string[] {
  return read(transaction).message.addressTableLookups.map(({ accountKey }) => accountKey.toBase58())
}

/**
 * The same unsigned transaction on another block, opening an account first. Undefined when it then no longer fits a
 * packet. Throws ProviderError for bytes that are no transaction.
 */
export function recompose(
  transaction: Uint8Array,
  { blockhash, opening, tables }: Changes,
): Uint8Array | undefined {
  const changed = read(transaction)
  changed.message.recentBlockhash = blockhash
  try {
    const bytes = (opening === undefined ? changed : withAccount(changed, opening, tables)).serialize()
    return bytes.length > transactionBytesMax ? undefined : bytes
  } catch (error) {
    // The library writes into a buffer of a packet's size.
    if (error instanceof RangeError) return undefined
    throw new ProviderError(
      'ambiguous',
      `the engine's transaction cannot be read: ${(error as Error).message}`,
    )
  }
}

function withAccount(
  { message }: VersionedTransaction,
  { payer, owner, mint }: NonNullable<Changes['opening']>,
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
    throw new ProviderError('ambiguous', 'the engine answered something that is no transaction')
  }
}
