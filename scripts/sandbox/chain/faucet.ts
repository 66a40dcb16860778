import { randomUUID } from 'node:crypto'
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  createSyncNativeInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import {
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { LRUCache } from 'lru-cache'
import { solMint } from '../../../src/kernel/tokens.js'
import type { LocalChain } from './local-chain.js'
import { firstMemoProgram } from './programs.js'

/**
 * Sends lamports from the faucet in a real transfer. Returns its signature.
 * @throws RpcError when the chain refuses it
 */
export function requestAirdrop(chain: LocalChain, wallet: string, lamports: bigint): string {
  const faucet = faucetOf(chain)
  const to = new PublicKey(wallet)
  return send(
    chain,
    [SystemProgram.transfer({ fromPubkey: faucet.publicKey, toPubkey: to, lamports })],
    [faucet],
  )
}

/**
 * Mints tokens (base units) into the wallet's associated account and opens the account when it is missing. Returns the
 * signature.
 * @throws RpcError when the chain refuses it, for example for a mint that the sandbox did not create
 */
export function mintTokens(chain: LocalChain, wallet: string, mint: string, amount: bigint): string {
  const authority = mintAuthorityOf(chain)
  const open = openTokenAccount(chain, wallet, mint)
  const mintTo = createMintToInstruction(
    new PublicKey(mint),
    associatedAccount(wallet, mint),
    authority.publicKey,
    amount,
  )
  return send(chain, [open, mintTo], [faucetOf(chain), authority])
}

export function wrapSol(chain: LocalChain, wallet: string, lamports: bigint): void {
  const faucet = faucetOf(chain)
  const account = associatedAccount(wallet, solMint)
  const transfer = SystemProgram.transfer({ fromPubkey: faucet.publicKey, toPubkey: account, lamports })
  const open = openTokenAccount(chain, wallet, solMint)
  send(chain, [open, transfer, createSyncNativeInstruction(account)], [faucet])
}

export function openTokenAccounts(chain: LocalChain, wallet: string, mints: readonly string[]): void {
  const missing = mints.filter((mint) => !chain.svm.account(associatedAccount(wallet, mint).toBase58()))
  if (missing.length === 0) return
  const instructions = missing.map((mint) => openTokenAccount(chain, wallet, mint))
  send(chain, instructions, [faucetOf(chain)])
}

export function faucetOf(chain: LocalChain): Keypair {
  return chain.keypair('faucet')
}

export function mintAuthorityOf(chain: LocalChain): Keypair {
  return chain.keypair('mint authority')
}

/** Remembered, because a derivation costs a millisecond and a swap asks for a dozen. */
const associatedAccounts = new LRUCache<string, PublicKey>({ max: 10_000 })

/** A wallet's account of a token. For SOL it is the account of wrapped SOL. */
export function associatedAccount(wallet: string | PublicKey, mint: string): PublicKey {
  const key = `${wallet} ${mint}`
  const known = associatedAccounts.get(key)
  if (known !== undefined) return known
  const account = getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true)
  associatedAccounts.set(key, account)
  return account
}

function openTokenAccount(chain: LocalChain, wallet: string, mint: string): TransactionInstruction {
  return createAssociatedTokenAccountIdempotentInstruction(
    faucetOf(chain).publicKey,
    associatedAccount(wallet, mint),
    new PublicKey(wallet),
    new PublicKey(mint),
  )
}

function send(
  chain: LocalChain,
  instructions: TransactionInstruction[],
  signers: [Keypair, ...Keypair[]],
): string {
  // Without the unique memo two equal airdrops in one slot would be one transaction.
  const nonce = new TransactionInstruction({
    programId: new PublicKey(firstMemoProgram),
    keys: [],
    data: Buffer.from(`airdrop ${randomUUID()}`),
  })
  const message = new TransactionMessage({
    payerKey: signers[0].publicKey,
    recentBlockhash: chain.clock.hashOf(chain.clock.slot),
    instructions: [...instructions, nonce],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign(signers)
  return chain.submit(transaction.serialize(), { skipPreflight: false })
}
