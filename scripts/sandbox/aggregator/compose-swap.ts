import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token'
import {
  type AccountMeta,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { solMint } from '../../../src/kernel/tokens.js'
import { associatedAccount } from '../chain/faucet.js'
import type { LocalChain } from '../chain/local-chain.js'
import { latestBlockhash } from '../chain/rpc/cluster.js'
import { transactionBytesMax } from '../chain/vm/wire-transaction.js'
import type { Mode } from './engine.js'
import { engineWallet, lookupTableOf, vaultOf } from './liquidity.js'
import type { Tradable } from './market.js'
import { pool, swapInstruction } from './swap-program.js'

/** Where the output goes: lamports to a wallet, or tokens to an account. `openFor`: opens the account for this owner. */
export type Destination =
  | { readonly wallet: PublicKey }
  | { readonly account: PublicKey; readonly openFor?: PublicKey }

/** A part of the fee: base units of a token and the token account that receives them. */
export interface FeeShare {
  readonly mint: string
  readonly account: PublicKey
  readonly amount: bigint
}

export interface SwapPlan {
  readonly user: PublicKey
  readonly input: Tradable
  readonly output: Tradable
  /** What the user pays, with the fees in the input token. */
  readonly inAmount: bigint
  /** What the destination receives. */
  readonly outAmount: bigint
  readonly destination: Destination
  readonly fees: readonly FeeShare[]
  /** Accounts that the swap instruction names but does not use. */
  readonly extraAccounts: readonly AccountMeta[]
  /** An instruction that does not belong to a swap. */
  readonly intruder?: TransactionInstruction
  /** A second signer, who pays the network fee. */
  readonly cosigner?: PublicKey
}

interface UnsignedTransaction {
  readonly transaction: Buffer
  readonly lastValidBlockHeight: number
}

const unitLimit = 1_400_000
/** Micro-lamports per compute unit, and the fee of a whole transaction in lamports. */
const unitPrice = 1_000
export const priorityLamports = Math.ceil((unitPrice * unitLimit) / 1_000_000)
const stolenLamports = 1_000_000n

/** Composes a plan's transaction with the newest confirmed blockhash and the engine's lookup table. */
export function composeSwap(chain: LocalChain, plan: SwapPlan): UnsignedTransaction {
  const { blockhash: recentBlockhash, lastValidBlockHeight } = latestBlockhash(chain, 'confirmed')
  try {
    const payerKey = plan.cosigner ?? plan.user
    const message = new TransactionMessage({ payerKey, recentBlockhash, instructions: instructionsOf(plan) })
    const unsigned = new VersionedTransaction(message.compileToV0Message([lookupTableOf(chain)]))
    return { transaction: Buffer.from(unsigned.serialize()), lastValidBlockHeight }
  } catch (error) {
    // Web3.js writes nothing that is larger than a packet. The engines send it, and nobody can read it.
    if (!(error instanceof RangeError)) throw error
    return { transaction: Buffer.alloc(transactionBytesMax + 1, 1), lastValidBlockHeight }
  }
}

/** Changes a plan as the mode says. In the dishonest modes the transaction then differs from the engine's answer. */
export function alterPlan(chain: LocalChain, mode: Mode, plan: SwapPlan): SwapPlan {
  const engine = engineWallet(chain)
  switch (mode) {
    case 'second-signer':
      return { ...plan, cosigner: chain.keypair('market maker').publicKey }
    case 'pays-less':
      return { ...plan, outAmount: plan.outAmount - plan.outAmount / 10n - 1n }
    case 'pays-another':
      return {
        ...plan,
        destination:
          'wallet' in plan.destination
            ? { wallet: engine }
            : { account: associatedAccount(engine, plan.output.mint) },
      }
    case 'batches':
      return {
        ...plan,
        intruder: SystemProgram.transfer({
          fromPubkey: plan.user,
          toPubkey: engine,
          lamports: stolenLamports,
        }),
      }
    case 'unknown-program': {
      const programId = chain.keypair('unknown program').publicKey
      return {
        ...plan,
        intruder: new TransactionInstruction({ programId, keys: [], data: Buffer.from([1]) }),
      }
    }
    default:
      return plan
  }
}

/** The instructions in the order of execution. Throws RangeError when one names more accounts than it can. */
function instructionsOf(plan: SwapPlan): TransactionInstruction[] {
  const { user, input, output, destination } = plan
  const cosigner = plan.cosigner ? [{ pubkey: plan.cosigner, isSigner: true, isWritable: false }] : []
  const wrapped = associatedAccount(user, solMint)
  const wraps = input.mint === solMint
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: unitLimit }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice }),
    ...(wraps
      ? [
          open(user, user, solMint),
          SystemProgram.transfer({ fromPubkey: user, toPubkey: wrapped, lamports: plan.inAmount }),
          createSyncNativeInstruction(wrapped),
        ]
      : []),
    ...('openFor' in destination && destination.openFor
      ? [open(user, destination.openFor, output.mint)]
      : []),
    ...(plan.intruder ? [plan.intruder] : []),
    swapInstruction(transfers(plan), [...plan.extraAccounts, ...cosigner]),
    ...(wraps ? [createCloseAccountInstruction(wrapped, user, user)] : []),
  ]
}

/** The calls that the swap program makes: the user pays the pool and fees, the pool pays the destination and fees. */
function transfers({ user, input, output, inAmount, outAmount, destination, fees }: SwapPlan) {
  const paid = fees.filter(({ amount }) => amount > 0n)
  const ofInput = paid.filter(({ mint }) => mint === input.mint)
  const ofOutput = paid.filter(({ mint }) => mint !== input.mint)
  const swapped = ofInput.reduce((rest, { amount }) => rest - amount, inAmount)
  const from =
    (owner: PublicKey, { mint, decimals }: Tradable) =>
    (to: PublicKey, amount: bigint) =>
      createTransferCheckedInstruction(
        associatedAccount(owner, mint),
        new PublicKey(mint),
        to,
        owner,
        amount,
        decimals,
      )
  const [fromUser, fromPool] = [from(user, input), from(pool, output)]
  return [
    fromUser(vaultOf(input.mint), swapped),
    ...ofInput.map(({ account, amount }) => fromUser(account, amount)),
    'wallet' in destination
      ? SystemProgram.transfer({ fromPubkey: pool, toPubkey: destination.wallet, lamports: outAmount })
      : fromPool(destination.account, outAmount),
    ...ofOutput.map(({ account, amount }) => fromPool(account, amount)),
  ]
}

function open(payer: PublicKey, owner: PublicKey, mint: string): TransactionInstruction {
  const account = associatedAccount(owner, mint)
  return createAssociatedTokenAccountIdempotentInstruction(payer, account, owner, new PublicKey(mint))
}
