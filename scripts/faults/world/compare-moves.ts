import { VersionedTransaction } from '@solana/web3.js'
import type { Knex } from 'knex'
import { usdc } from '../../../src/kernel/tokens.js'
import { countBy } from '../../kit/report.js'
import { associatedAccount } from '../../sandbox/chain/faucet.js'
import type { LocalChain } from '../../sandbox/chain/local-chain.js'

/** What must be on the chain of a row in this state. */
const expected: Readonly<Record<string, string>> = {
  final: 'moved',
  failed: 'failed',
  dead: 'nowhere',
  expired: 'nowhere',
  prepared: 'nowhere',
}

/** Compares every sweep and every take-out with the chain, and counts them by state. Nothing may be under way. */
export async function compareMoves(
  db: Knex,
  chain: LocalChain,
  wallets: readonly string[],
): Promise<{ faults: string[]; counts: Record<string, number> }> {
  const read = async (kind: string, table: string): Promise<Row[]> =>
    (await db(table).select('id', 'state', 'signature')).map((row) => ({ ...row, kind }))
  const rows = [...(await read('sweep', 'sweeps')), ...(await read('take-out', 'wallet_transfers'))]
  const known = new Set(rows.map(({ signature }) => signature))
  return {
    faults: [...rows.flatMap((row) => faultOf(chain, row)), ...unknownTransactions(chain, wallets, known)],
    counts: countBy(rows.map(({ kind, state }) => `${kind}s: ${state}`)),
  }
}

interface Row {
  readonly kind: string
  readonly id: string
  readonly state: string
  readonly signature: string | null
}

function faultOf({ ledger }: LocalChain, { kind, id, state, signature }: Row): string[] {
  const record = signature === null ? undefined : ledger.get(signature)
  const landed = record === undefined ? 'nowhere' : record.meta.err === null ? 'moved' : 'failed'
  return landed === expected[state] ? [] : [`${kind} ${id} is ${state}, and on the chain: ${landed}`]
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

/** Whether the wallet is among the required signers of a transaction. */
function signs(raw: string | undefined, wallet: string): boolean {
  const { message } = VersionedTransaction.deserialize(Buffer.from(raw ?? '', 'base64'))
  return message.staticAccountKeys
    .slice(0, message.header.numRequiredSignatures)
    .some((key) => key.toBase58() === wallet)
}

/** Where a token account holds its amount. */
const amountOffset = 64

/** Micro-USDC in a wallet's associated account. */
export function usdcOf({ svm }: LocalChain, wallet: string): bigint {
  const account = svm.account(associatedAccount(wallet, usdc.mint).toBase58())
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(amountOffset)
}
