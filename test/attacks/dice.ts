import type { ExecutionContext } from 'ava'
import { randomFrom } from '../helpers/random.js'
import { seeded } from '../helpers/seed.js'

/** Chance that can be repeated. */
export interface Dice {
  /** A whole number from 0 to below `sides`. */
  roll(sides: number): number
  pick<T>(from: readonly T[]): T
}

/** Dice of the seed that is printed with the test (TEST_SEED): it throws them the same way again. */
export function diceFor(t: ExecutionContext): Dice {
  const next = randomFrom(seeded(t).seed)
  const roll = (sides: number): number => Math.floor(next() * sides)
  return { roll, pick: (from) => from[roll(from.length)] as (typeof from)[number] }
}
