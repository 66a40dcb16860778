import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { decodeBase58 } from '../../kernel/base58.js'
import { solMint } from '../../kernel/tokens.js'
import type { MessagePlan, Payment, ReadMessage } from '../../ports/custody-chain.js'
import { associatedAccount, withReference } from './build-transfer.js'

/**
 * The first code of the token program took 6,200 units for a payment; today's takes 155 (measured on the local chain: 930 for six). The
 * limit fits both.
 */
const units = { base: 2_000, payment: 12_000, opening: 40_000 }
/**
 * Priority fee per compute unit, as of tips: 1,500 lamports for six payments. No more is offered when the network is busy, because
 * money in custody can wait: what does not land is given back and planned again.
 */
const microLamportsPerUnit = 20_000

export function buildMessage({
  payer,
  blockhash,
  opensAccounts,
  unwraps = false,
  payments,
}: MessagePlan): Uint8Array {
  const payerKey = new PublicKey(payer)
  const opened = opensAccounts ? accountsToOpen(payments) : []
  const unwrapped = unwraps ? payments.filter(({ mint }) => mint === solMint) : []
  const limit =
    units.base + units.payment * (payments.length + unwrapped.length) + units.opening * opened.length
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: limit }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: microLamportsPerUnit }),
    ...opened.map(({ to, mint }) =>
      createAssociatedTokenAccountIdempotentInstruction(
        payerKey,
        new PublicKey(associatedAccount(to, mint)),
        new PublicKey(to),
        new PublicKey(mint),
      ),
    ),
    ...unwrapped.map(({ from }) => {
      const owner = new PublicKey(from)
      return createCloseAccountInstruction(new PublicKey(associatedAccount(from, solMint)), owner, owner)
    }),
    ...payments.map(paymentInstruction),
  ]
  return new TransactionMessage({ payerKey, recentBlockhash: blockhash, instructions })
    .compileToV0Message()
    .serialize()
}

function accountsToOpen(payments: readonly Payment[]): Payment[] {
  const tokens = payments.filter(({ mint }) => mint !== solMint)
  return [...new Map(tokens.map((payment) => [`${payment.to} ${payment.mint}`, payment])).values()]
}

function paymentInstruction(payment: Payment): TransactionInstruction {
  const instruction = plainPayment(payment)
  return payment.referenceKey === undefined ? instruction : withReference(instruction, payment.referenceKey)
}

function plainPayment({ from, to, mint, decimals, amount }: Payment): TransactionInstruction {
  const owner = new PublicKey(from)
  if (mint === solMint)
    return SystemProgram.transfer({ fromPubkey: owner, toPubkey: new PublicKey(to), lamports: amount })
  return createTransferCheckedInstruction(
    new PublicKey(associatedAccount(from, mint)),
    new PublicKey(mint),
    new PublicKey(associatedAccount(to, mint)),
    owner,
    amount,
    decimals,
  )
}

export function readMessage(bytes: Uint8Array): ReadMessage | undefined {
  try {
    const message = VersionedMessage.deserialize(bytes)
    // Trailing bytes, or numbers written in a longer way, would be signed without having been read.
    if (!Buffer.from(message.serialize()).equals(Buffer.from(bytes))) return undefined
    if (message.version !== 'legacy' && message.addressTableLookups.length > 0) return undefined
    const keys = message.staticAccountKeys.map((key) => key.toBase58())
    if (new Set(keys).size !== keys.length) return undefined
    const keyAt = (index: number): string => {
      const key = keys[index]
      if (key === undefined) throw new Error('an instruction names no account')
      return key
    }
    return {
      blockhash: message.recentBlockhash,
      signers: keys.slice(0, message.header.numRequiredSignatures),
      instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
        program: keyAt(programIdIndex),
        accounts: accountKeyIndexes.map((index) => ({
          address: keyAt(index),
          signer: message.isAccountSigner(index),
          writable: message.isAccountWritable(index),
        })),
        data,
      })),
    }
  } catch {
    return undefined
  }
}

/** See `CustodyChain.sizeOf`: the number of signatures, the signatures, the message. */
export function sizeOf(message: Uint8Array): number {
  const { header } = VersionedMessage.deserialize(message)
  return 1 + 64 * header.numRequiredSignatures + message.length
}

export function assemble(message: Uint8Array, signatures: Readonly<Record<string, string>>): Uint8Array {
  const parsed = VersionedMessage.deserialize(message)
  const signers = parsed.staticAccountKeys.slice(0, parsed.header.numRequiredSignatures)
  const ordered = signers.map((signer) => {
    const signature = decodeBase58(signatures[signer.toBase58()] ?? '')
    if (signature?.length !== 64) throw new Error(`the signature of ${signer.toBase58()} is missing`)
    return signature
  })
  return new VersionedTransaction(parsed, ordered).serialize()
}

export function unsigned(message: Uint8Array): Uint8Array {
  return new VersionedTransaction(VersionedMessage.deserialize(message)).serialize()
}
