import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token'
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { solMint, tokens } from '../../../../src/kernel/tokens.js'
import type { TreasurySettings } from '../../../../src/platform/config/own-settings.js'
import { type Chain, rentExemptLamports } from '../../../../src/ports/chain.js'
import { RefusedError } from '../order.js'

/** A token account that receives fees. */
interface FeeAccount {
  readonly owner: string
  readonly symbol: string
  readonly mint: string
  readonly address: string
  readonly open: boolean
}

/** The state of all accounts that receive fees. */
export interface FeeAccounts {
  readonly treasury: TreasurySettings
  readonly accounts: readonly FeeAccount[]
  /** Lamports the treasury wallet needs to be exempt from rent, and does not have. */
  readonly lamportsMissing: bigint
}

/** Throws RefusedError when the referral account does not exist: only its owner can create it, through the swap engine. */
export async function readFeeAccounts(chain: Chain, treasury: TreasurySettings): Promise<FeeAccounts> {
  const { wallet, referralAccount } = treasury
  const needed = tokens.flatMap(({ symbol, mint }) => [
    // The fee of a direct SOL transfer goes to the wallet itself.
    ...(mint === solMint ? [] : [{ owner: wallet, symbol, mint }]),
    ...(referralAccount === undefined ? [] : [{ owner: referralAccount, symbol, mint }]),
  ])
  const accounts = needed.map((one) => ({ ...one, address: chain.associatedAccount(one.owner, one.mint) }))
  const [open, { recipientLamports, treasuryLamports }] = await Promise.all([
    chain.tokenAccounts(accounts.map(({ address }) => address)),
    chain.transferAccounts(solMint, referralAccount ?? wallet, wallet),
  ])
  if (referralAccount !== undefined && recipientLamports === 0n)
    throw new RefusedError(`AGGREGATOR_REFERRAL_ACCOUNT ${referralAccount} does not exist on this chain`)
  const lacking = rentExemptLamports - treasuryLamports
  return {
    treasury,
    accounts: accounts.map((one) => ({ ...one, open: open.has(one.address) })),
    lamportsMissing: lacking > 0n ? lacking : 0n,
  }
}

/** One instruction for each missing account, and one that funds the treasury wallet when it needs it. */
export function buildInstructions(
  { treasury, accounts, lamportsMissing }: FeeAccounts,
  payer: PublicKey,
): TransactionInstruction[] {
  const opening = accounts
    .filter(({ open }) => !open)
    .map(({ address, owner, mint }) =>
      createAssociatedTokenAccountIdempotentInstruction(
        payer,
        new PublicKey(address),
        new PublicKey(owner),
        new PublicKey(mint),
      ),
    )
  const toPubkey = new PublicKey(treasury.wallet)
  const funding = SystemProgram.transfer({ fromPubkey: payer, toPubkey, lamports: lamportsMissing })
  return lamportsMissing === 0n ? opening : [funding, ...opening]
}
