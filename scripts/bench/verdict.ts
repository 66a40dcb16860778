import { median } from './measurement.js'
import type { Figure } from './outcome.js'

/** Less is not worth a word: the processes of one release differ by this much. */
const leastChange = 0.03

type Word = 'faster' | 'slower' | 'same'

/** One figure of two releases. */
export interface Compared {
  readonly name: string
  readonly before: number
  readonly after: number
  /** The change as a share of `before`; positive is better. */
  readonly gain: number
  /** Half the range of the repeated runs, as a share of their median: of the release where it is greater. */
  readonly noise: number
  readonly word: Word
}

/**
 * Compares the runs of two releases. Slower is what every run after is, compared with every run before: the ranges do not touch. One run
 * that was disturbed therefore never makes a release slower.
 */
export function compareFigures(
  before: readonly (readonly Figure[])[],
  after: readonly (readonly Figure[])[],
): Compared[] {
  return (before[0] ?? []).flatMap(({ name, better }) => {
    const [old, now] = [valuesOf(name, before), valuesOf(name, after)]
    if (now.length === 0) return []
    return [{ name, ...compareValues(old, now, better) }]
  })
}

function valuesOf(name: string, runs: readonly (readonly Figure[])[]): number[] {
  return runs.flatMap((figures) => figures.filter((figure) => figure.name === name).map(({ value }) => value))
}

function compareValues(
  old: readonly number[],
  now: readonly number[],
  better: Figure['better'],
): Omit<Compared, 'name'> {
  const [before, after] = [median(old), median(now)]
  const gain = (better === 'higher' ? after - before : before - after) / before
  const apart = Math.max(...old) < Math.min(...now) || Math.max(...now) < Math.min(...old)
  const changed = apart && Math.abs(gain) > leastChange
  const word = !changed ? 'same' : gain > 0 ? 'faster' : 'slower'
  return { before, after, gain, noise: Math.max(noiseOf(old), noiseOf(now)), word }
}

function noiseOf(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values)
}
