/** What a run has counted, and what it has found. */
export interface Report {
  readonly rows: readonly (readonly [name: string, value: string | number])[]
  /** Broken promises. Empty when all is well. */
  readonly faults: readonly string[]
  /** What is said when there are none. */
  readonly kept: string
}

/** Counts with their names, in the order of the names. */
export function sortedRows(
  counts: Readonly<Record<string, number>>,
  prefix = '',
): (readonly [string, number])[] {
  return Object.entries(counts)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => [prefix + name, count])
}

export function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

/** The value below which this share of them lies; 0 when there are none. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0
}

/** The table of a run and its verdict. */
export function textOf({ rows, faults, kept }: Report, run: string): string {
  const lines = rows.map(([name, value]) => `${name.padEnd(44)}${String(value).padStart(28)}`)
  return [...lines, run, ...(faults.length === 0 ? [kept] : faults), ''].join('\n')
}
