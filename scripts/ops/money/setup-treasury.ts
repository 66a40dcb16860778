import { setTimeout as pause } from 'node:timers/promises'
import {
  Connection,
  type Keypair,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { loadTreasury } from '../../../src/platform/config/own-settings.js'
import type { Chain } from '../../../src/ports/chain.js'
import { createSolanaChain } from '../../../src/providers/solana/solana-chain.js'
import { buildInstructions, type FeeAccounts, readFeeAccounts } from '../support/chain/fee-accounts.js'
import { readKeyPair } from '../support/chain/key-pair.js'
import { applyOptions, defineCommand, defineOptions, type Outcome, type Values } from '../support/command.js'
import { type Order, RefusedError, UsageError } from '../support/order.js'
import { withDatabase } from '../support/services.js'

const options = defineOptions(applyOptions, {
  '--payer <file>': 'key pair file of the Solana command line; it pays about 0.002 SOL for each account',
  '--apply': 'open the missing accounts',
})

/** Opens the token accounts that receive the platform's fees. Without them tips go out without a fee. */
const usage = `npm run ops -- setup-treasury [--apply --payer <file>]

Shows the accounts that receive the platform's fees, and opens the missing ones: a token account for every known token
of TREASURY_WALLET (direct transfers, aggregator-v6) and of AGGREGATOR_REFERRAL_ACCOUNT (aggregator-ultra). It also sends
the treasury wallet the SOL it needs to exist. Without --apply this changes nothing. Existing accounts are left alone, so
run it again whenever a token was added.

Reads TREASURY_WALLET, AGGREGATOR_REFERRAL_ACCOUNT, SOLANA_RPC_URLS, SOLANA_GENESIS_HASH and DATABASE_URL.`

/** A command has no metrics. */
const noMetric = (): void => undefined
const chainOptions = { onCall: noMetric, onFailure: noMetric }
/** Accounts opened by one transaction. More do not fit into one packet. */
const accountsPerTransaction = 6

async function openAccounts(
  chain: Chain,
  plan: FeeAccounts,
  payer: Keypair,
  order: Order,
): Promise<string[]> {
  const { treasury } = plan
  const instructions = buildInstructions(plan, payer.publicKey)
  const signatures: string[] = []
  const [rpcUrl = ''] = treasury.rpcUrls
  // Every transaction is written to the audit log, so nothing is submitted while the database is unavailable.
  await withDatabase(async (db) => {
    await db.raw('select 1')
    for (let at = 0; at < instructions.length; at += accountsPerTransaction) {
      const part = instructions.slice(at, at + accountsPerTransaction)
      const signature = await submitAndConfirm(chain, rpcUrl, payer, part)
      signatures.push(signature)
      const details = { signature, payer: payer.publicKey.toBase58(), instructions: part.length }
      const subject = `treasury:${treasury.wallet}`
      await db.transaction((trx) => order.audit(trx, 'setup-treasury', subject, details))
    }
  })
  return signatures
}

const pollMs = 400

/**
 * Signs the instructions with the payer's key, submits them as one transaction and waits until it is confirmed. Returns
 * the signature. Throws RefusedError when the transaction failed or can no longer land; then it changed nothing.
 */
async function submitAndConfirm(
  chain: Chain,
  rpcUrl: string,
  payer: Keypair,
  instructions: readonly TransactionInstruction[],
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [...instructions],
    }).compileToV0Message(),
  )
  transaction.sign([payer])
  const connection = new Connection(rpcUrl, 'confirmed')
  const signature = await connection.sendTransaction(transaction).catch((error: Error) => {
    throw new RefusedError(`the chain does not accept the transaction: ${error.message.split('\n')[0]}`)
  })
  process.stderr.write(`submitted ${signature}, waiting until it is confirmed\n`)
  for (;;) {
    const isPast = (await chain.blockHeight()) > lastValidBlockHeight
    const answered = await chain.statuses([signature])
    const { commitment, failed } = answered.get(signature) ?? {}
    if (failed) throw new RefusedError(`transaction ${signature} failed`)
    if (commitment === 'confirmed' || commitment === 'finalized') return signature
    if (isPast && answered.has(signature) && commitment !== 'processed')
      throw new RefusedError(`transaction ${signature} did not land in time`)
    await pause(pollMs)
  }
}

type Given = Values<typeof options>

async function run(values: Given, order: Order): Promise<Outcome> {
  if (order.apply && values.payer === undefined)
    throw new UsageError('--apply needs --payer <file>: the key pair that pays for the accounts')
  const treasury = loadTreasury()
  const { rpcUrls: urls, genesisHash } = treasury
  const chain = createSolanaChain({ urls, genesisHash, ...chainOptions })
  const found = await readFeeAccounts(chain, treasury)
  if (!order.apply || values.payer === undefined || isComplete(found)) return present(found, [])
  const signatures = await openAccounts(chain, found, readKeyPair(values.payer), order)
  return present(await readFeeAccounts(chain, treasury), signatures)
}

function isComplete({ accounts, lamportsMissing }: FeeAccounts): boolean {
  return accounts.every(({ open }) => open) && lamportsMissing === 0n
}

function present(found: FeeAccounts, signatures: readonly string[]): Outcome {
  const { accounts, lamportsMissing, treasury } = found
  const funded = lamportsMissing === 0n ? 'funded' : `LACKS ${lamportsMissing} lamports`
  const lines = accounts.map(({ owner, symbol, address, open }) => {
    const whose = owner === treasury.wallet ? 'treasury' : 'referral'
    return `${whose}  ${symbol.padEnd(8)}${address}  ${open ? 'open' : 'MISSING'}`
  })
  const json = { wallet: treasury.wallet, lamportsMissing, accounts, signatures }
  const text = [
    `treasury  wallet  ${treasury.wallet}  ${funded}`,
    ...lines,
    lastLine(found, signatures),
  ].join('\n')
  return { text, json, ok: signatures.length === 0 || isComplete(found) }
}

function lastLine(found: FeeAccounts, signatures: readonly string[]): string {
  if (signatures.length > 0) return `done: ${signatures.join(' ')}`
  return isComplete(found) ? 'nothing to do' : 'not done yet; add --apply --payer <file> to do it'
}

export const command = await defineCommand(import.meta, { usage, options, run })
