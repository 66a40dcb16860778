import { createHash } from 'node:crypto'
import { type AccountMeta, PublicKey } from '@solana/web3.js'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import type { Trade } from './market.js'
import { pool, readOnly } from './swap-program.js'

/** Maximum of further markets on a route. Their accounts are not in the lookup table. */
export const furtherStepsMax = 4
const accountsPerStep = 8
/** Accounts of a route that are in the lookup table. */
const accountsInTable = 32

const label = 'Sandbox'

/** The number of further markets on a route with this account limit. */
export function furtherSteps(accountsMax: number): number {
  const steps = Math.ceil((accountsMax - accountsInTable) / accountsPerStep)
  return Math.max(0, Math.min(furtherStepsMax, steps))
}

/** A market on the route and its part of the swap. */
export interface RouteStep {
  readonly swapInfo: { readonly ammKey: string; readonly [detail: string]: string }
  readonly percent: number
  readonly bps: number
}

/** The route in both engines' format: the pool and further markets, each with an equal part. */
export function routePlan({ input, output, inAmount, outAmount, fee }: Trade, further: number): RouteStep[] {
  const markets = [
    pool.toBase58(),
    ...Array.from({ length: further }, (_, index) => derived(`market ${index}`)),
  ]
  const swapped = inAmount - (fee?.mint === input.mint ? fee.amount : 0n)
  const gross = outAmount + (fee?.mint === output.mint ? fee.amount : 0n)
  return markets.map((ammKey, index) => ({
    swapInfo: {
      ammKey,
      label,
      inputMint: input.mint,
      outputMint: output.mint,
      inAmount: String(part(swapped, markets.length, index)),
      outAmount: String(part(gross, markets.length, index)),
      feeAmount: '0',
      feeMint: input.mint,
    },
    percent: Number(part(100n, markets.length, index)),
    bps: Number(part(10_000n, markets.length, index)),
  }))
}

/** The accounts of a route's further markets. */
export function marketAccounts(ammKeys: readonly string[]): AccountMeta[] {
  return ammKeys
    .filter((ammKey) => ammKey !== pool.toBase58())
    .flatMap((ammKey) =>
      Array.from({ length: accountsPerStep }, (_, index) =>
        readOnly(new PublicKey(derived(`${ammKey}|${index}`))),
      ),
    )
}

function derived(name: string): string {
  return encodeBase58(createHash('sha256').update(name).digest())
}

/** One of equal parts. The first part gets the remainder, so that the parts add up. */
function part(whole: bigint, parts: number, index: number): bigint {
  const each = whole / BigInt(parts)
  return index === 0 ? whole - each * BigInt(parts - 1) : each
}
