import { decodeBase58 } from '../../../src/kernel/base58.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { readCustody, unboundOf } from '../../../src/ledger/custody.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { type CustodyCreator, type CustodyWorld, owedTo, usdcOf } from './custody-world.js'

export interface SweepComparison {
  /** Broken promises. Empty when all is well. */
  readonly faults: readonly string[]
  /** Sweeps by their last state. */
  readonly states: Readonly<Record<string, number>>
  readonly sweptMicro: bigint
}

/** Less than this is not swept. */
const leastMicro = 10_000n

/** Compares every sweep, every book and the ledger with the chain. Nothing may be under way. */
export async function compareSweeps(world: CustodyWorld): Promise<SweepComparison> {
  const { services, sandbox, creators } = world
  const rows = await services.db('sweeps').select('id', 'state', 'signature')
  const states: Record<string, number> = {}
  for (const { state } of rows) states[state] = (states[state] ?? 0) + 1
  const treasury = services.config.tips.treasuryWallet
  const swept = usdcOf(sandbox, treasury) - world.treasuryBefore
  const books = await readCustody(services.db)
  const booked = books.reduce((sum, book) => sum + book.swept, 0n)
  const faults = [
    ...rows.flatMap((row) => faultOfSweep(world, row)),
    ...unknownTransactions(world, new Set(rows.map(({ signature }) => signature))),
    ...(await Promise.all(creators.map((creator) => faultsOfCreator(world, creator)))).flat(),
    ...(swept === booked ? [] : [`the treasury got ${swept}, and the books say ${booked}`]),
    ...(await ledgerFaults(world, swept)),
  ]
  return { faults, states, sweptMicro: swept }
}

interface SweepRow {
  readonly id: string
  readonly state: string
  readonly signature: string | null
}

function faultOfSweep({ sandbox }: CustodyWorld, { id, state, signature }: SweepRow): string[] {
  const record = signature === null ? undefined : sandbox.chain.ledger.get(signature)
  const landed = record === undefined ? 'nowhere' : record.meta.err === null ? 'moved' : 'failed'
  const expected = { final: 'moved', failed: 'failed', dead: 'nowhere' }[state]
  return landed === expected ? [] : [`sweep ${id} is ${state}, and on the chain: ${landed}`]
}

/** Transactions that moved something out of custody without a row. */
function unknownTransactions(
  { sandbox, creators }: CustodyWorld,
  known: ReadonlySet<string | null>,
): string[] {
  const { ledger } = sandbox.chain
  return creators.flatMap(({ wallet }) =>
    ledger
      .signaturesOf(wallet)
      .filter((signature) => !known.has(signature) && signs(ledger.get(signature)?.raw, wallet))
      .map((signature) => `${signature} was signed by a custody wallet, and no sweep has it`),
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

async function faultsOfCreator(world: CustodyWorld, creator: CustodyCreator): Promise<string[]> {
  const { userId, wallet, tipped } = creator
  const [book] = await readCustody(world.services.db, usdc.mint, [userId])
  const onChain = usdcOf(world.sandbox, wallet)
  const owed = await owedTo(world, userId)
  if (book === undefined) return []
  const { final, swept, inFlight } = book
  return [
    ...(inFlight === 0n ? [] : [`creator ${userId} has ${inFlight} in flight`]),
    ...(final === tipped ? [] : [`creator ${userId} was tipped ${tipped}, and the book has ${final}`]),
    ...(tipped - swept === onChain
      ? []
      : [`creator ${userId} has ${onChain} of ${tipped} - ${swept} on the chain`]),
    ...(onChain >= owed ? [] : [`creator ${userId} is owed ${owed}, and has ${onChain} in custody`]),
    ...(unboundOf(book) - owed < leastMicro ? [] : [`creator ${userId} was not swept to the end`]),
  ]
}

async function ledgerFaults({ services }: CustodyWorld, swept: bigint): Promise<string[]> {
  const { invariants } = await checkBooks(services.db)
  const sums: { kind: string; units: string }[] = await services
    .db('ledger_entries as e')
    .join('ledger_accounts as a', 'a.id', 'e.account_id')
    .whereNull('a.user_id')
    .where({ 'a.currency': 'USDC' })
    .groupBy('a.kind')
    .select('a.kind')
    .sum({ units: 'e.amount' })
  const of = (kind: string): bigint => BigInt(sums.find((sum) => sum.kind === kind)?.units ?? 0)
  return [
    ...invariants.filter(({ violations }) => violations > 0n).map(({ name }) => `the ledger: ${name}`),
    ...(of('in_transit') === 0n ? [] : [`in transit: ${of('in_transit')}`]),
    ...(of('treasury') === -swept
      ? []
      : [`the ledger has ${of('treasury')} in the treasury, the chain ${swept}`]),
  ]
}
