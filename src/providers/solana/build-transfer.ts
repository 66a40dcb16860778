import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { solMint } from '../../kernel/tokens.js'
import type { TransferPlan } from '../../ports/chain.js'

/** Room for the two legs, a new token account and the guard instructions wallets add around ours. */
const computeUnits = { sol: 60_000, token: 140_000 }
/** Priority fee per compute unit; with the units above at most 2,800 lamports a transaction. */
const microLamportsPerUnit = 20_000

/**
 * The unsigned v0 transaction of a direct transfer (contract: Crypto payment intent): compute budget, the
 * recipient's token account when missing, the net leg carrying the reference key, the fee transfer. All signature
 * slots are zero; the sender is fee payer and only signer.
 */
export function buildTransfer(plan: TransferPlan): Uint8Array {
  const sender = new PublicKey(plan.sender)
  const legs = plan.mint === solMint ? solLegs(plan, sender) : tokenLegs(plan, sender)
  const message = new TransactionMessage({
    payerKey: sender,
    recentBlockhash: plan.blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({
        units: plan.mint === solMint ? computeUnits.sol : computeUnits.token,
      }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: microLamportsPerUnit }),
      ...legs,
    ],
  })
  return new VersionedTransaction(message.compileToV0Message()).serialize()
}

/** The associated token account of a wallet, classic token program. Also for wallets off the curve. */
export function associatedAccount(wallet: string, mint: string): string {
  return getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true).toBase58()
}

function solLegs(plan: TransferPlan, sender: PublicKey): TransactionInstruction[] {
  const leg = (to: string, lamports: bigint): TransactionInstruction =>
    SystemProgram.transfer({ fromPubkey: sender, toPubkey: new PublicKey(to), lamports })
  const net = withReference(leg(plan.recipient, plan.net), plan.referenceKey)
  return plan.fee === 0n ? [net] : [net, leg(plan.treasury, plan.fee)]
}

function tokenLegs(plan: TransferPlan, sender: PublicKey): TransactionInstruction[] {
  const mint = new PublicKey(plan.mint)
  const accountOf = (wallet: string): PublicKey => new PublicKey(associatedAccount(wallet, plan.mint))
  const from = accountOf(plan.sender)
  const leg = (to: string, units: bigint): TransactionInstruction =>
    createTransferCheckedInstruction(from, mint, accountOf(to), sender, units, plan.decimals)
  const recipient = new PublicKey(plan.recipient)
  const account = createAssociatedTokenAccountIdempotentInstruction(
    sender,
    accountOf(plan.recipient),
    recipient,
    mint,
  )
  const net = withReference(leg(plan.recipient, plan.net), plan.referenceKey)
  return plan.fee === 0n ? [account, net] : [account, net, leg(plan.treasury, plan.fee)]
}

/** The System and Token programs ignore a further account; indexers do not (Solana Pay specification, reference). */
function withReference(instruction: TransactionInstruction, referenceKey: string): TransactionInstruction {
  instruction.keys.push({ pubkey: new PublicKey(referenceKey), isSigner: false, isWritable: false })
  return instruction
}
