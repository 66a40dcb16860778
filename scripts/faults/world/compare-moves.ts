import type { Knex } from 'knex'
import { decodeBase58 } from '../../../src/kernel/base58.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { associatedAccount } from '../../sandbox/chain/faucet.js'
import type { LocalChain } from '../../sandbox/chain/local-chain.js'

/** What left custody, by our rows and by the chain. */
export interface MovesComparison {
  readonly faults: readonly string[]
  /** By their state. */
  readonly sweeps: Readonly<Record<string, number>>
  readonly takeOuts: Readonly<Record<string, number>>
}

/** What must be on the chain of a row in this state. */
const expected: Readonly<Record<string, string>> = {
  final: 'moved',
  failed: 'failed',
  dead: 'nowhere',
  expired: 'nowhere',
  prepared: 'nowhere',
}

/** Compares every sweep and every take-out with the chain. Nothing may be under way. */
export async function compareMoves(
  db: Knex,
  chain: LocalChain,
  wallets: readonly string[],
): Promise<MovesComparison> {
  const sweeps: Row[] = await db('sweeps').select('id', 'state', 'signature')
  const takeOuts: Row[] = await db('wallet_transfers').select('id', 'state', 'signature')
  const known = new Set([...sweeps, ...takeOuts].map(({ signature }) => signature))
  return {
    faults: [
      ...sweeps.flatMap((row) => faultOf(chain, 'sweep', row)),
      ...takeOuts.flatMap((row) => faultOf(chain, 'take-out', row)),
      ...unknownTransactions(chain, wallets, known),
    ],
    sweeps: countStates(sweeps),
    takeOuts: countStates(takeOuts),
  }
}

interface Row {
  readonly id: string
  readonly state: string
  readonly signature: string | null
}

function faultOf({ ledger }: LocalChain, kind: string, { id, state, signature }: Row): string[] {
  const record = signature === null ? undefined : ledger.get(signature)
  const landed = record === undefined ? 'nowhere' : record.meta.err === null ? 'moved' : 'failed'
  return landed === expected[state] ? [] : [`${kind} ${id} is ${state}, and on the chain: ${landed}`]
}

function countStates(rows: readonly Row[]): Record<string, number> {
  const states: Record<string, number> = {}
  for (const { state } of rows) states[state] = (states[state] ?? 0) + 1
  return states
}

/** Transactions that moved something out of custody without a row. */
function unknownTransactions(
  { ledger }: LocalChain,
  wallets: readonly string[],
  known: ReadonlySet<string | null>,
): string[] {
  return wallets.flatMap((wallet) =>
    ledger
      .signaturesOf(wallet)
      .filter((signature) => !known.has(signature) && signs(ledger.get(signature)?.raw, wallet))
      .map((signature) => `${signature} was signed by a custody wallet, and no sweep or take-out has it`),
  )
}

/** Whether the wallet is among the required signers of a transaction (version 0). */
function signs(raw: string | undefined, wallet: string): boolean {
  const bytes = Buffer.from(raw ?? '', 'base64')
  const [count = 0] = bytes
  const firstKey = 1 + count * 64 + 5
  const keys = bytes.subarray(firstKey, firstKey + count * 32)
  return Array.from({ length: count }, (_, n) => keys.subarray(n * 32, (n + 1) * 32)).some((key) =>
    key.equals(Buffer.from(decodeBase58(wallet) ?? [])),
  )
}

/** Where a token account holds its amount. */
const amountOffset = 64

/** Micro-USDC in a wallet's associated account. */
export function usdcOf({ svm }: LocalChain, wallet: string): bigint {
  const account = svm.account(associatedAccount(wallet, usdc.mint).toBase58())
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(amountOffset)
}
