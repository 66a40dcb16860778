import { usdc } from '../../../src/kernel/tokens.js'
import { readCustody, unboundOf } from '../../../src/ledger/custody.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { compareMoves, usdcOf } from './compare-moves.js'
import { type CustodyCreator, type CustodyWorld, owedTo } from './custody-world.js'

export interface SweepComparison {
  /** Broken promises. Empty when all is well. */
  readonly faults: readonly string[]
  /** Sweeps and take-outs by their last state. */
  readonly sweeps: Readonly<Record<string, number>>
  readonly takeOuts: Readonly<Record<string, number>>
  readonly sweptMicro: bigint
}

/** Less than this is not swept. */
const leastMicro = 10_000n

/** Compares every sweep, every take-out, every book and the ledger with the chain. Nothing may be under way. */
export async function compareSweeps(world: CustodyWorld): Promise<SweepComparison> {
  const { services, sandbox, creators } = world
  const { db } = services
  const wallets = creators.map(({ wallet }) => wallet)
  const { faults: moved, sweeps, takeOuts } = await compareMoves(db, sandbox.chain, wallets)
  const swept = usdcOf(sandbox.chain, services.config.tips.treasuryWallet) - world.treasuryBefore
  const booked = (await readCustody(db)).reduce((sum, book) => sum + book.swept, 0n)
  const faults = [
    ...moved,
    ...(await Promise.all(creators.map((creator) => faultsOfCreator(world, creator)))).flat(),
    ...(swept === booked ? [] : [`the treasury got ${swept}, and the books say ${booked}`]),
    ...(await ledgerFaults(world, swept)),
  ]
  return { faults, sweeps, takeOuts, sweptMicro: swept }
}

async function faultsOfCreator(world: CustodyWorld, creator: CustodyCreator): Promise<string[]> {
  const { userId, wallet, tipped, holder } = creator
  const [book] = await readCustody(world.services.db, usdc.mint, [userId])
  const onChain = usdcOf(world.sandbox.chain, wallet)
  const owed = await owedTo(world, userId)
  if (book === undefined) return []
  const { final, swept, takenOut, inFlight } = book
  const taken = holder === undefined ? 0n : usdcOf(world.sandbox.chain, holder.publicKey.toBase58())
  return [
    ...(inFlight === 0n ? [] : [`creator ${userId} has ${inFlight} in flight`]),
    ...(final === tipped ? [] : [`creator ${userId} was tipped ${tipped}, and the book has ${final}`]),
    ...(tipped - swept - takenOut === onChain
      ? []
      : [`creator ${userId} has ${onChain} of ${tipped} - ${swept} - ${takenOut} on the chain`]),
    ...(taken === takenOut ? [] : [`creator ${userId} took ${taken} out, and the book has ${takenOut}`]),
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
