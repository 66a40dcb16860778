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
  type TransactionInstruction,
} from '@solana/web3.js'
import { solMint } from '../../../src/kernel/tokens.js'
import { accountOf } from './accounts.js'
import { vaultOf } from './liquidity.js'
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

/** What a swap transaction does. */
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
  /** False: uses the user's wrapped SOL account without wrapping or closing it. */
  readonly wrapSol: boolean
  /** Micro-lamports per compute unit. */
  readonly unitPrice: number
  /** Accounts that the swap instruction names but does not use. */
  readonly extraAccounts: readonly AccountMeta[]
  /** Instructions that do not belong to a swap. */
  readonly extraInstructions: readonly TransactionInstruction[]
  /** A second signer, who pays the network fee. */
  readonly cosigner?: PublicKey
}

export const unitLimit = 1_400_000

/** The instructions of a plan in the order of execution. Throws RangeError when it names more accounts than an instruction can. */
export function buildSwap(plan: SwapPlan): TransactionInstruction[] {
  const { user, input, unitPrice, wrapSol } = plan
  const wraps = input.mint === solMint && wrapSol
  const cosigner = plan.cosigner ? [{ pubkey: plan.cosigner, isSigner: true, isWritable: false }] : []
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: unitLimit }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice }),
    ...(wraps ? wrap(user, plan.inAmount) : []),
    ...openDestination(plan),
    ...plan.extraInstructions,
    swapInstruction(transfers(plan), [...plan.extraAccounts, ...cosigner]),
    ...(wraps ? [createCloseAccountInstruction(accountOf(user, solMint), user, user)] : []),
  ]
}

function wrap(user: PublicKey, lamports: bigint): TransactionInstruction[] {
  const account = accountOf(user, solMint)
  return [
    open(user, user, solMint),
    SystemProgram.transfer({ fromPubkey: user, toPubkey: account, lamports }),
    createSyncNativeInstruction(account),
  ]
}

function openDestination({ user, destination, output }: SwapPlan): TransactionInstruction[] {
  const owner = 'openFor' in destination ? destination.openFor : undefined
  return owner ? [open(user, owner, output.mint)] : []
}

/** The calls that the swap program makes: the user pays the pool and fees, the pool pays the destination and fees. */
function transfers({ user, input, output, inAmount, outAmount, destination, fees }: SwapPlan) {
  const paid = fees.filter(({ amount }) => amount > 0n)
  const ofInput = paid.filter(({ mint }) => mint === input.mint)
  const ofOutput = paid.filter(({ mint }) => mint !== input.mint)
  const swapped = ofInput.reduce((rest, { amount }) => rest - amount, inAmount)
  const fromUser = (to: PublicKey, amount: bigint) =>
    createTransferCheckedInstruction(
      accountOf(user, input.mint),
      new PublicKey(input.mint),
      to,
      user,
      amount,
      input.decimals,
    )
  const fromPool = (to: PublicKey, amount: bigint) =>
    createTransferCheckedInstruction(
      vaultOf(output.mint),
      new PublicKey(output.mint),
      to,
      pool,
      amount,
      output.decimals,
    )
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
  return createAssociatedTokenAccountIdempotentInstruction(
    payer,
    accountOf(owner, mint),
    owner,
    new PublicKey(mint),
  )
}
