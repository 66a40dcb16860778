import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token'
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { solMint, tokens } from '../../../src/kernel/tokens.js'
import type { Treasury } from '../../../src/platform/config/config.js'
import { type Chain, rentExemptLamports } from '../../../src/ports/chain.js'
import { CannotDo } from './command.js'

interface Account {
  readonly owner: string
  readonly symbol: string
  readonly mint: string
  readonly address: string
  readonly open: boolean
}

/** The accounts fees arrive at, as they are. */
export interface FeeAccounts {
  readonly treasury: Treasury
  readonly accounts: readonly Account[]
  /** Lamports the treasury's wallet lacks to exist. */
  readonly lamportsMissing: bigint
}

/** Throws CannotDo when the referral account is not there: only its owner can make it, at the engine's. */
export async function readFeeAccounts(chain: Chain, treasury: Treasury): Promise<FeeAccounts> {
  const { wallet, referralAccount } = treasury
  const wanted = tokens.flatMap(({ symbol, mint }) => [
    // The fee of a direct transfer of SOL goes to the wallet itself.
    ...(mint === solMint ? [] : [{ owner: wallet, symbol, mint }]),
    ...(referralAccount === undefined ? [] : [{ owner: referralAccount, symbol, mint }]),
  ])
  const accounts = wanted.map((one) => ({ ...one, address: chain.associatedAccount(one.owner, one.mint) }))
  const [open, { recipientLamports, treasuryLamports }] = await Promise.all([
    chain.tokenAccounts(accounts.map(({ address }) => address)),
    chain.transferAccounts(solMint, referralAccount ?? wallet, wallet),
  ])
  if (referralAccount !== undefined && recipientLamports === 0n)
    throw new CannotDo(`AGGREGATOR_REFERRAL_ACCOUNT ${referralAccount} does not exist on this chain`)
  const lacking = rentExemptLamports - treasuryLamports
  return {
    treasury,
    accounts: accounts.map((one) => ({ ...one, open: open.has(one.address) })),
    lamportsMissing: lacking > 0n ? lacking : 0n,
  }
}

/** What opens the missing ones and brings the treasury's wallet into being, one instruction each. */
export function instructionsFor(
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
