import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { ExecutionContext } from 'ava'
import { associatedAccount, mintTokens, requestAirdrop } from '../../../scripts/sandbox/chain/faucet.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { platformAccount, transferEntries, userAccount } from '../../../src/ledger/accounts.js'
import { releasePending, reserveMany } from '../../../src/ledger/bulk-transfers.js'
import { credit } from '../../../src/ledger/transfers.js'
import type { World } from '../servers/world.js'
import { temporaryFolder } from '../temporary-folder.js'
import { registerCreator, type TestCreator } from './creators.js'

/** A registered creator with so many micro-USDC in the custody wallet, credited as final tips are. */
export async function creatorInCustody(world: World, micro: bigint): Promise<TestCreator> {
  const creator = await registerCreator(world)
  if (micro > 0n) await tipIntoCustody(world, creator, micro)
  return creator
}

/** USDC arrive in a custody wallet and are credited as a final tip. */
export async function tipIntoCustody(
  { services, sandbox }: Pick<World, 'services' | 'sandbox'>,
  { user, wallet }: TestCreator,
  micro: bigint,
): Promise<void> {
  mintTokens(sandbox.chain, wallet, usdc.mint, micro)
  const key = `tip:${randomBytes(8).toString('hex')}`
  const entries = transferEntries(
    micro,
    platformAccount('custody_wallets', 'USDC'),
    userAccount(user.id, 'pending', 'USDC'),
  )
  await services.transact(async ({ trx }) => {
    await reserveMany(trx, [{ key, ref: key, entries }])
    await releasePending(trx, [key])
  })
}

/** The platform has paid the creator for so much, longer ago than withdrawals are kept in custody. */
export async function payCreator({ db }: Pick<World, 'db'>, userId: string, micro: bigint): Promise<void> {
  const entries = transferEntries(
    micro,
    userAccount(userId, 'available', 'USDC'),
    platformAccount('fx', 'USDC'),
  )
  await credit(db, { key: `test:paid:${randomBytes(8).toString('hex')}`, ref: 'test', entries })
}

/** A key pair file with SOL, as the Solana command line writes it. */
export function payerFile(
  t: ExecutionContext,
  { sandbox }: Pick<World, 'sandbox'>,
  lamports = 1_000_000_000n,
): { readonly file: string; readonly address: string } {
  const pair = Keypair.generate()
  const address = pair.publicKey.toBase58()
  if (lamports > 0n) requestAirdrop(sandbox.chain, address, lamports)
  const file = join(temporaryFolder(t), 'payer.json')
  writeFileSync(file, JSON.stringify([...pair.secretKey]))
  return { file, address }
}

/** Micro-USDC in a wallet's account on the chain. */
export function usdcOnChain({ sandbox }: Pick<World, 'sandbox'>, wallet: string): bigint {
  const account = sandbox.chain.svm.account(associatedAccount(wallet, usdc.mint).toBase58())
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64)
}

const stateAt = 108

/** Freezes a wallet's USDC account, or thaws it. */
export function freezeUsdc({ sandbox }: Pick<World, 'sandbox'>, wallet: string, frozen: boolean): void {
  const address = associatedAccount(wallet, usdc.mint).toBase58()
  const account = sandbox.chain.svm.account(address)
  if (account === undefined) throw new Error('there is no such account')
  const data = Buffer.from(account.data)
  data[stateAt] = frozen ? 2 : 1
  sandbox.chain.setAccount(address, { ...account, data })
}
