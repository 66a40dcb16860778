import { printProgress } from '../bootstrap/progress.mjs'
import type { Report } from '../kit/report.js'

/** The options of `npm run bench` that a benchmark may read. */
export interface BenchOptions {
  /** `lists`: the greater number of tips. */
  readonly rows?: number | undefined
  /** Repetitions whose median counts. Default: each benchmark's own number. */
  readonly rounds?: number | undefined
  /** `streams`: the open streams. */
  readonly clients?: number | undefined
}

/** One figure of the service, for comparing two releases. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly better: 'lower' | 'higher'
}

export interface Outcome {
  readonly table: string
  readonly results: unknown
  readonly figures?: readonly Figure[]
  /** For docs/promises.md. */
  readonly rows?: Report['rows'] | undefined
  /** What missed its goal, when that fails the benchmark. */
  readonly fault?: string | undefined
}

/** What was measured in one round, by the name of the server. */
export type Round<Name extends string, Measured> = Readonly<Record<Name, Measured>>

/** The order of measurement in a round (from 1). Every second round is reversed, so that a drifting machine is fair to all. */
export function alternateOrder<Name extends string>(names: readonly Name[], round: number): readonly Name[] {
  return round % 2 === 0 ? names.toReversed() : names
}

/** Measures each in every round, in turns. */
export async function measureRounds<Name extends string, Measured>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name) => Promise<Measured>,
): Promise<Round<Name, Measured>[]> {
  const results: Round<Name, Measured>[] = []
  for (let round = 1; round <= rounds; round++) {
    const measured = new Map<Name, Measured>()
    for (const name of alternateOrder(names, round)) {
      printProgress(`round ${round} of ${rounds}: ${name}`)
      measured.set(name, await measure(name))
    }
    results.push(Object.fromEntries(measured) as Record<Name, Measured>)
  }
  return results
}

/** A column of a table: the median of all rounds. */
export interface Column<Name extends string, Measured> {
  readonly head: string
  readonly digits: number
  readonly of: (measured: Measured, round: Round<Name, Measured>) => number
  /** It is also a figure by which two releases are compared. */
  readonly better?: Figure['better']
}

/** The lines of a table, and the figures in it. */
interface Section {
  readonly rounds: number
  readonly lines: readonly string[]
  readonly figures: readonly Figure[]
  readonly rows: Report['rows']
}

/** A line for each name, below the heads. `unit`: what is counted. `compared`: whose figures count, by the word before each. */
export function section<Name extends string, Measured>(
  unit: string,
  results: readonly Round<Name, Measured>[],
  columns: readonly Column<Name, Measured>[],
  compared: Readonly<Record<string, Name>>,
): Section {
  const names = Object.keys(results[0] ?? {}) as Name[]
  const first = Math.max(unit.length, ...names.map((name) => name.length)) + 2
  const line = (title: string, cells: readonly string[]): string =>
    title.padEnd(first) +
    cells.map((cell, n) => cell.padStart(Math.max(columns[n]?.head.length ?? 0, 8) + 2)).join('')
  const medianOf = (name: Name, { of }: Column<Name, Measured>): number =>
    median(results.map((round) => of(round[name], round)))
  const cellsOf = (name: Name): string[] =>
    columns.map((column) => medianOf(name, column).toFixed(column.digits))
  const heads = columns.map(({ head }) => head)
  return {
    rounds: results.length,
    lines: [line(unit, heads), ...names.map((name) => line(name, cellsOf(name)))],
    rows: Object.entries(compared).flatMap(([word, name]) =>
      cellsOf(name).map((cell, n) => [`${word}: ${heads[n]}`, Number(cell)] as const),
    ),
    figures: Object.entries(compared).flatMap(([word, name]) =>
      columns.flatMap((column) => {
        const { head, better } = column
        return better === undefined
          ? []
          : [{ name: `${word}: ${head}`, value: medianOf(name, column), better }]
      }),
    ),
  }
}

/** The tables, one below the other, and the notes below them. `of`: what a round is. */
export function outcomeOf(
  results: unknown,
  sections: readonly [Section, ...Section[]],
  of: string,
  ...notes: readonly string[]
): Outcome {
  const medians = `medians of ${sections[0].rounds} rounds of ${of}; a ratio is the median of the ratios of each round`
  return {
    table: [...sections.flatMap(({ lines }) => lines), ...notes, medians].join('\n'),
    results,
    figures: sections.flatMap(({ figures }) => figures),
    rows: sections.flatMap(({ rows }) => rows),
  }
}

/** The middle of an odd number of values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
