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
import { LRUCache } from 'lru-cache'
import { solMint } from '../../kernel/tokens.js'
import type { TransferPlan } from '../../ports/chain.js'

/** Enough for both transfers, a new token account and the guard instructions that wallets add. */
const computeUnits = { sol: 60_000, token: 140_000 }
/** Priority fee per compute unit. With the units above, at most 2,800 lamports per transaction. */
const microLamportsPerUnit = 20_000

/**
 * The unsigned v0 transaction of a direct transfer: compute budget, the recipient's token account if missing, the fee
 * transfer, the net transfer with the reference key. The validators of Solana Pay read the last instruction only. All
 * signatures are zero; the sender is the fee payer and the only signer.
 */
export function buildTransfer(plan: TransferPlan): Uint8Array {
  const sender = new PublicKey(plan.sender)
  const transfers = plan.mint === solMint ? solTransfers(plan, sender) : tokenTransfers(plan, sender)
  const message = new TransactionMessage({
    payerKey: sender,
    recentBlockhash: plan.blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({
        units: plan.mint === solMint ? computeUnits.sol : computeUnits.token,
      }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: microLamportsPerUnit }),
      ...transfers,
    ],
  })
  return new VersionedTransaction(message.compileToV0Message()).serialize()
}

/** Deriving one takes half a millisecond. Creators' and the treasury's are needed again and again. */
const derived = new LRUCache<string, string>({ max: 10_000 })

/** The associated token account of a wallet (classic token program). Also for wallets off the curve. */
export function associatedAccount(wallet: string, mint: string): string {
  const key = `${wallet} ${mint}`
  const known = derived.get(key)
  if (known !== undefined) return known
  const account = getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true).toBase58()
  derived.set(key, account)
  return account
}

function solTransfers(plan: TransferPlan, sender: PublicKey): TransactionInstruction[] {
  const transfer = (to: string, lamports: bigint): TransactionInstruction =>
    SystemProgram.transfer({ fromPubkey: sender, toPubkey: new PublicKey(to), lamports })
  const net = withReference(transfer(plan.recipient, plan.net), plan.referenceKey)
  return plan.fee === 0n ? [net] : [transfer(plan.treasury, plan.fee), net]
}

function tokenTransfers(plan: TransferPlan, sender: PublicKey): TransactionInstruction[] {
  const mint = new PublicKey(plan.mint)
  const accountOf = (wallet: string): PublicKey => new PublicKey(associatedAccount(wallet, plan.mint))
  const from = accountOf(plan.sender)
  const transfer = (to: string, units: bigint): TransactionInstruction =>
    createTransferCheckedInstruction(from, mint, accountOf(to), sender, units, plan.decimals)
  const recipient = new PublicKey(plan.recipient)
  const account = createAssociatedTokenAccountIdempotentInstruction(
    sender,
    accountOf(plan.recipient),
    recipient,
    mint,
  )
  const net = withReference(transfer(plan.recipient, plan.net), plan.referenceKey)
  return plan.fee === 0n ? [account, net] : [account, transfer(plan.treasury, plan.fee), net]
}

/** The System and Token programs ignore an additional account, and indexers index it (Solana Pay: `reference`). */
export function withReference(
  instruction: TransactionInstruction,
  referenceKey: string,
): TransactionInstruction {
  instruction.keys.push({ pubkey: new PublicKey(referenceKey), isSigner: false, isWritable: false })
  return instruction
}
