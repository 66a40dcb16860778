import type { PublicKey } from '@solana/web3.js'
import { solMint } from '../../../src/kernel/tokens.js'
import { associatedAccount } from '../chain/faucet.js'
import type { LocalChain } from '../chain/local-chain.js'
import { readTokenAccount, type TokenAccount } from '../chain/token-accounts.js'

/** A wallet's associated account of a token. For SOL it is the account of wrapped SOL. */
export function accountOf(owner: PublicKey, mint: string): PublicKey {
  return associatedAccount(owner.toBase58(), mint)
}

/** The token account at this address, if there is one. */
export function tokenAccountAt(chain: LocalChain, address: PublicKey): TokenAccount | undefined {
  return readTokenAccount(chain.svm.account(address.toBase58()), (mint) => chain.svm.account(mint))
}

/** Base units that a wallet can swap: its lamports, or the balance of its associated account. */
export function balanceOf(chain: LocalChain, owner: PublicKey, mint: string): bigint {
  if (mint === solMint) return chain.svm.account(owner.toBase58())?.lamports ?? 0n
  return BigInt(tokenAccountAt(chain, accountOf(owner, mint))?.uiTokenAmount.amount ?? 0)
}
