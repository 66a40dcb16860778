import { randomBytes } from 'node:crypto'
import {
  type AddressLookupTableAccount,
  Keypair,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { lookupTableOf } from '../../../scripts/sandbox/aggregator/liquidity.js'
import { mintTokens, requestAirdrop } from '../../../scripts/sandbox/chain/faucet.js'
import type { Sandbox } from '../../../scripts/sandbox/server.js'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { tokenBySymbol } from '../../../src/kernel/tokens.js'

/** A supporter with a wallet. Submitted transactions reach the local chain immediately. */
export interface Supporter {
  readonly keypair: Keypair
  readonly wallet: string
  /** Signs and submits a transaction from the service. `change` alters the instructions first, as some wallets do. */
  pay(transaction: string, change?: Change, options?: Pick<SendOptions, 'skipPreflight'>): string
  /** Signs and submits instructions. Returns the signature. */
  send(instructions: TransactionInstruction[], options?: SendOptions): string
}

type Change = (instructions: TransactionInstruction[]) => TransactionInstruction[]

interface SendOptions {
  readonly tables?: AddressLookupTableAccount[]
  readonly signers?: readonly Keypair[]
  /** For a transaction that is meant to land and fail. */
  readonly skipPreflight?: boolean
}

const startLamports = 100_000_000_000n
const startTokens = 1_000_000_000_000n

/** Creates a supporter with 100 SOL and plenty of the named tokens. */
export function createSupporter(
  { chain }: Pick<Sandbox, 'chain'>,
  symbols: readonly string[] = [],
): Supporter {
  const keypair = Keypair.generate()
  const wallet = keypair.publicKey.toBase58()
  requestAirdrop(chain, wallet, startLamports)
  for (const symbol of symbols) mintTokens(chain, wallet, tokenBySymbol(symbol)?.mint ?? '', startTokens)

  function submit(
    transaction: VersionedTransaction,
    { signers = [], skipPreflight = false }: SendOptions,
  ): string {
    transaction.sign([keypair, ...signers])
    return chain.submit(transaction.serialize(), { skipPreflight })
  }
  return {
    keypair,
    wallet,
    pay(issued, change, options = {}) {
      if (change !== undefined) return submit(alterTransaction(chain, issued, change), options)
      const { message } = VersionedTransaction.deserialize(Buffer.from(issued, 'base64'))
      return submit(new VersionedTransaction(message), options)
    },
    send(instructions, options = {}) {
      const message = new TransactionMessage({
        payerKey: keypair.publicKey,
        recentBlockhash: chain.clock.hashOf(chain.clock.slot),
        instructions,
      })
      return submit(new VersionedTransaction(message.compileToV0Message(options.tables)), options)
    },
  }
}

/** Changes the instructions of a transaction from the service before it is signed, as some wallets do. */
export function alterTransaction(
  chain: Sandbox['chain'],
  issued: string,
  change: Change,
): VersionedTransaction {
  const { message } = VersionedTransaction.deserialize(Buffer.from(issued, 'base64'))
  // A swap's message refers to the engine's lookup table.
  const tables = message.addressTableLookups.length > 0 ? [lookupTableOf(chain)] : []
  const plain = TransactionMessage.decompile(message, { addressLookupTableAccounts: tables })
  plain.instructions = change(plain.instructions)
  return new VersionedTransaction(plain.compileToV0Message(tables))
}

/** A new wallet address that no one uses. */
export function unusedWallet(): string {
  return Keypair.generate().publicKey.toBase58()
}

/** A well-formed signature without a transaction. */
export function unusedSignature(): string {
  return encodeBase58(randomBytes(64))
}
