import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token'
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { associatedAccount } from '../../../scripts/sandbox/chain/faucet.js'
import { memoProgram } from '../../../scripts/sandbox/chain/programs.js'
import type { Token } from '../../../src/kernel/tokens.js'

/** A plain SOL transfer, as any wallet builds it without the service. */
export function solTransfer(from: string, to: string, lamports: number | bigint): TransactionInstruction {
  return SystemProgram.transfer({
    fromPubkey: new PublicKey(from),
    toPubkey: new PublicKey(to),
    lamports: BigInt(lamports),
  })
}

/** A plain token transfer that also opens the recipient's token account. */
export function tokenTransfer(
  { mint, decimals }: Token,
  from: string,
  to: string,
  units: number | bigint,
): TransactionInstruction[] {
  const [payer, owner, mintKey] = [new PublicKey(from), new PublicKey(to), new PublicKey(mint)]
  const account = associatedAccount(to, mint)
  return [
    createAssociatedTokenAccountIdempotentInstruction(payer, account, owner, mintKey),
    createTransferCheckedInstruction(associatedAccount(from, mint), mintKey, account, payer, units, decimals),
  ]
}

/** A memo instruction. It moves no money. */
export function memo(text: string): TransactionInstruction {
  const programId = new PublicKey(memoProgram)
  return new TransactionInstruction({ programId, keys: [], data: Buffer.from(text) })
}
