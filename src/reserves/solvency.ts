import { exposureOf, koboOf, type Position } from './position.js'

/** What was read outside the ledger. Micro-USDC and kobo. */
export interface OutsideFacts {
  /** What custody wallets lack on the chain. */
  readonly custodyShort: bigint
  /** What the treasury's wallet holds. */
  readonly treasuryChain: bigint
  /** What the provider's balance has beyond the books; below zero: less. */
  readonly floatUnexplained: bigint
}

export interface Solvency {
  /** What the platform certainly has. Creators' debts to us do not count. */
  readonly usdc: bigint
  readonly naira: bigint
  /** What is left, in kobo, if everybody is paid at the rate. Below zero: it lacks. Undefined without a rate. */
  readonly surplus: bigint | undefined
}

/**
 * What the platform has against what it owes. The ledger is one snapshot, and what it has in custody and in the float counts as far
 * as chain and provider do not show less. The treasury counts as the chain shows it; what it has beyond the books may be a sweep
 * that has landed and is still in transit, which counts once.
 */
export function computeSolvency(
  position: Position,
  { custodyShort, treasuryChain, floatUnexplained }: OutsideFacts,
  rate: bigint | undefined,
): Solvency {
  const { usdc, ngn } = position
  const beyond = treasuryChain > usdc.treasury ? treasuryChain - usdc.treasury : 0n
  const inTransit = usdc.inTransit > beyond ? usdc.inTransit - beyond : 0n
  const held = usdc.custody - custodyShort + treasuryChain + inTransit
  const naira = ngn.float + floatUnexplained + ngn.collections + ngn.inTransit
  const exposure = exposureOf(position, { usdc: held, naira }, rate)
  return {
    usdc: held,
    naira,
    surplus: rate === undefined ? undefined : exposure.naira + koboOf(-exposure.micro, rate),
  }
}
