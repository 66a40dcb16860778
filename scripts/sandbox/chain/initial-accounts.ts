import { MINT_SIZE, MintLayout } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { solMint, tokens } from '../../../src/kernel/tokens.js'
import { faucetOf, mintAuthorityOf, openTokenAccounts, requestAirdrop } from './faucet.js'
import type { LocalChain } from './local-chain.js'
import { tokenProgram } from './token-accounts.js'

const lamportsPerSol = 10n ** 9n
// JSON numbers are exact up to 2^53 lamports, about 9 million SOL. Every balance must stay below.
const faucetLamports = 5_000_000n * lamportsPerSol
const treasuryLamports = lamportsPerSol

const mints = tokens.filter((token) => token.mint !== solMint)

/** Creates what a new chain lacks: the faucet's SOL and the known tokens at their mainnet addresses. */
export function createInitialAccounts(chain: LocalChain): void {
  const faucet = faucetOf(chain).publicKey.toBase58()
  if (!chain.svm.account(faucet)) chain.setAccount(faucet, { lamports: faucetLamports })
  for (const { mint, decimals } of mints) {
    if (!chain.svm.account(mint)) createMint(chain, mint, decimals)
  }
}

/** Gives the treasury 1 SOL and a token account for every known token, where they are missing. */
export function fundTreasury(chain: LocalChain, treasury: string): void {
  if (!chain.svm.account(treasury)) requestAirdrop(chain, treasury, treasuryLamports)
  openTokenAccounts(
    chain,
    treasury,
    mints.map(({ mint }) => mint),
  )
}

function createMint(chain: LocalChain, mint: string, decimals: number): void {
  const data = Buffer.alloc(MINT_SIZE)
  MintLayout.encode(
    {
      mintAuthorityOption: 1,
      mintAuthority: mintAuthorityOf(chain).publicKey,
      supply: 0n,
      decimals,
      isInitialized: true,
      freezeAuthorityOption: 0,
      freezeAuthority: PublicKey.default,
    },
    data,
  )
  chain.setAccount(mint, { owner: tokenProgram, data })
}
