/** In turn, and the other way round every other time, so that a drifting machine favours nobody. `round`: from 1. */
export function inTurn<Name extends string>(names: readonly Name[], round: number): readonly Name[] {
  return round % 2 === 0 ? names.toReversed() : names
}

/** The middle of an odd number of values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
