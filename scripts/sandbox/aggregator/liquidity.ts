import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  PublicKey,
  SystemProgram,
} from '@solana/web3.js'
import { solMint, tokens } from '../../../src/kernel/tokens.js'
import { associatedAccount, mintTokens, openTokenAccounts, requestAirdrop, wrapSol } from '../chain/faucet.js'
import type { LocalChain } from '../chain/local-chain.js'
import { tokenProgram } from '../chain/token-accounts.js'
import { pool, swapProgram, swapProgramId } from './swap-program.js'

// Enough for any number of tips, and within the limits of JSON numbers and of a token's supply.
const vaultTokens = 10n ** 9n
const poolLamports = 10n ** 15n
const makerLamports = 10n ** 12n
const referralProgram = 'REFER4ZgmyYx9c6He5XfaTMiGfdLwRnkV4RPp9t9iF3'

const mints = tokens.map(({ mint }) => mint)

/** The engine's own wallet, which receives its share of the fees. */
export function engineWallet(chain: LocalChain): PublicKey {
  return chain.keypair('swap engine').publicKey
}

/** The account that receives the platform's share of fees. It has an associated token account for every known token. */
export function referralAccountOf(chain: LocalChain): PublicKey {
  return chain.keypair('referral account').publicKey
}

export function vaultOf(mint: string): PublicKey {
  return associatedAccount(pool, mint)
}

/** Creates what a new chain lacks: the swap program, its liquidity, its lookup table and the fee accounts. */
export function createLiquidity(chain: LocalChain): void {
  chain.svm.addProgram(swapProgramId.toBase58(), swapProgram())
  const poolKey = pool.toBase58()
  if (!chain.svm.account(poolKey)) chain.setAccount(poolKey, { lamports: poolLamports })
  if (!chain.svm.account(vaultOf(solMint).toBase58())) wrapSol(chain, poolKey, poolLamports)
  for (const { mint, decimals } of tokens) {
    if (mint === solMint || chain.svm.account(vaultOf(mint).toBase58())) continue
    mintTokens(chain, poolKey, mint, vaultTokens * 10n ** BigInt(decimals))
  }
  // A referral account is owned by the referral program. Its data is not needed here.
  const referral = referralAccountOf(chain).toBase58()
  if (!chain.svm.account(referral)) chain.setAccount(referral, { owner: referralProgram })
  for (const owner of [engineWallet(chain), referralAccountOf(chain)])
    openTokenAccounts(chain, owner.toBase58(), mints)
  const maker = chain.keypair('market maker').publicKey.toBase58()
  if (!chain.svm.account(maker)) requestAirdrop(chain, maker, makerLamports)
  createLookupTable(chain)
}

/** The lookup table with which swaps fit into a packet: the pool's vaults, the mints and the called programs. */
export function lookupTableOf(chain: LocalChain): AddressLookupTableAccount {
  const programs = [new PublicKey(tokenProgram), SystemProgram.programId, pool]
  const addresses = [...programs, ...mints.flatMap((mint) => [new PublicKey(mint), vaultOf(mint)])]
  const state = {
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses,
  }
  return new AddressLookupTableAccount({ key: chain.keypair('lookup table').publicKey, state })
}

function createLookupTable(chain: LocalChain): void {
  const { key, state } = lookupTableOf(chain)
  if (chain.svm.account(key.toBase58())) return
  const data = Buffer.concat([
    tableHeader(state.deactivationSlot),
    ...state.addresses.map((one) => one.toBuffer()),
  ])
  chain.setAccount(key.toBase58(), { owner: AddressLookupTableProgram.programId.toBase58(), data })
}

/** The header of a table without an authority, last extended in slot 0: kind, deactivation slot, the rest zero. */
function tableHeader(deactivationSlot: bigint): Buffer {
  const header = Buffer.alloc(56)
  header.writeUInt32LE(1, 0)
  header.writeBigUInt64LE(deactivationSlot, 4)
  return header
}
