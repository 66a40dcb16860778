import type { ExecutionContext } from 'ava'
import { seeded } from '../domain/seed.js'

/** Chance that can be repeated. */
export interface Dice {
  /** A whole number from 0 to below `sides`. */
  roll(sides: number): number
  pick<T>(from: readonly T[]): T
}

/** Dice of the seed that is printed with the test (TEST_SEED): it throws them the same way again. */
export function diceFor(t: ExecutionContext): Dice {
  let state = seeded(t).seed
  // mulberry32
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const roll = (sides: number): number => Math.floor(next() * sides)
  return { roll, pick: (from) => from[roll(from.length)] as (typeof from)[number] }
}
